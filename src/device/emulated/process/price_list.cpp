#include "device/emulated/process/price_list.h"

#include <algorithm>

namespace unstarve::emulated {

PriceList::PriceList(const Profile& own, const std::vector<Profile>& kinds, double scale)
    : own_(DurationModel::create(own, nullptr, scale)) {
  for (const Profile& kind : kinds) {
    if (kinds_.size() == kPricesMax) break;
    kinds_.push_back(DurationModel::create(kind, nullptr, scale));
  }
}

template <class EstimateOn>
Prices PriceList::price_by(const Estimate& estimate, EstimateOn on) const {
  Prices prices = {};
  if (kinds_.empty()) return prices;
  double ratio = 1;
  if (estimate.source == DurationSource::kRecorded) {
    ratio = static_cast<double>(estimate.ns) / static_cast<double>(on(*own_).ns);
  }
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    prices[i] = static_cast<float>(static_cast<double>(on(*kinds_[i]).ns) * ratio);
  }
  return prices;
}

Prices PriceList::price(const Estimate& estimate, const KernelClass& kernel,
                        const KernelWork& work) const {
  if (kinds_.empty()) return {};
  KernelClass unrecorded = kernel;
  unrecorded.recorded = nullptr;
  return price_by(estimate,
                  [&](const DurationModel& model) { return model.estimate(unrecorded, work); });
}

Prices PriceList::price(const Estimate& estimate, const MatmulWork& work) const {
  return price_by(estimate, [&](const DurationModel& model) { return model.estimate(work); });
}

Prices PriceList::price(const Estimate& estimate, const ConvolutionWork& work) const {
  return price_by(estimate, [&](const DurationModel& model) { return model.estimate(work); });
}

Prices PriceList::price(const Estimate& estimate, const OtherWork& work) const {
  return price_by(estimate, [&](const DurationModel& model) { return model.estimate(work); });
}

Prices PriceList::same_everywhere(const Estimate& estimate) const {
  Prices prices = {};
  std::fill_n(prices.begin(), kinds_.size(), static_cast<float>(estimate.ns));
  return prices;
}

}  // namespace unstarve::emulated
