#include "tune/judging/promise.h"

namespace unstarve::tune {

namespace {

constexpr double kUnknown = 0.5;

}  // namespace

double promise_of(const Lever& lever, const StepShares& shares, bool held_up_by_loader) {
  switch (lever.eases) {
    case Eases::kCompute: return shares.known() ? shares.compute : kUnknown;
    case Eases::kLaunches: return shares.known() ? shares.launches : kUnknown;
    case Eases::kMemory: return shares.known() ? shares.memory : kUnknown;
    case Eases::kLoading: break;
  }
  return held_up_by_loader ? 1 : 0;
}

}  // namespace unstarve::tune
