#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "device/emulated/duration/duration_model.h"
#include "device/emulated/engine/operation.h"

namespace unstarve::emulated {

/// What work that runs on one kind of GPU would take on others: by the roofline of each; of work
/// whose duration was recorded here, that duration in the ratio of both rooflines.
///
///   const PriceList list(own, {h100, l4}, scale);
///   const Prices prices = list.price(model.estimate(work), work);  // those of an H100, of an L4
///
/// Thread rule: any thread; nothing changes after it was made.
class PriceList {
 public:
  /// At most kPricesMax of `kinds` are priced.
  PriceList(const Profile& own, const std::vector<Profile>& kinds, double scale);

  std::size_t kinds() const { return kinds_.size(); }
  /// `estimate`: what the work takes here. Zeros beyond kinds().
  Prices price(const Estimate& estimate, const KernelClass& kernel, const KernelWork& work) const;
  Prices price(const Estimate& estimate, const MatmulWork& work) const;
  Prices price(const Estimate& estimate, const ConvolutionWork& work) const;
  Prices price(const Estimate& estimate, const OtherWork& work) const;
  /// Of work that takes its time whatever the device.
  Prices same_everywhere(const Estimate& estimate) const;

 private:
  template <class EstimateOn>
  Prices price_by(const Estimate& estimate, EstimateOn on) const;

  std::shared_ptr<const DurationModel> own_;
  std::vector<std::shared_ptr<const DurationModel>> kinds_;
};

}  // namespace unstarve::emulated
