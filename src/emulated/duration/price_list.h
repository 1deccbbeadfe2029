#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "emulated/duration/duration_model.h"

namespace unstarve::emulated {

/// What work that runs on one kind of GPU would take on others: by the roofline of each; of work
/// whose duration was recorded here, that duration in the ratio of both rooflines.
///
///   const PriceList list(own, {h100, l4}, scale);
///   const auto prices = list.price(model.estimate(work), work);  // those of an H100, of an L4
///
/// Thread rule: any thread; nothing changes after it was made.
class PriceList {
 public:
  static constexpr std::size_t kMostKinds = 12;
  using Prices = std::array<float, kMostKinds>;  // ns, by kind

  /// At most kMostKinds of `kinds` are priced.
  PriceList(const Profile& own, const std::vector<Profile>& kinds, double scale)
      : own_(DurationModel::create(own, nullptr, scale)) {
    for (const Profile& kind : kinds) {
      if (kinds_.size() == kMostKinds) break;
      kinds_.push_back(DurationModel::create(kind, nullptr, scale));
    }
  }

  std::size_t kinds() const { return kinds_.size(); }

  /// Of a product, a convolution or other work of a library; `estimate`: what it takes here.
  template <class Work>
  Prices price(const Estimate& estimate, const Work& work) const {
    return price_by(estimate, [&](const DurationModel& model) { return model.estimate(work); });
  }

  Prices price(const Estimate& estimate, const KernelClass& kernel, const KernelWork& work) const {
    if (kinds_.empty()) return {};
    KernelClass unrecorded = kernel;
    unrecorded.recorded = nullptr;
    return price_by(estimate,
                    [&](const DurationModel& model) { return model.estimate(unrecorded, work); });
  }

  /// Of work that takes its time whatever the device.
  Prices same_everywhere(const Estimate& estimate) const {
    Prices prices = {};
    std::fill_n(prices.begin(), kinds_.size(), static_cast<float>(estimate.ns));
    return prices;
  }

 private:
  template <class EstimateOn>
  Prices price_by(const Estimate& estimate, EstimateOn on) const {
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

  std::shared_ptr<const DurationModel> own_;
  std::vector<std::shared_ptr<const DurationModel>> kinds_;
};

}  // namespace unstarve::emulated
