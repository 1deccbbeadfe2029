#include "tune/levers/lever.h"

#include <algorithm>

namespace unstarve::tune {

std::string_view to_string(Eases eases) {
  switch (eases) {
    case Eases::kCompute: return "compute";
    case Eases::kProducts: return "products";
    case Eases::kPrecision: return "precision";
    case Eases::kFusion: return "fusion";
    case Eases::kLaunches: return "launches";
    case Eases::kOptimizer: return "optimizer";
    case Eases::kZeroing: return "zeroing";
    case Eases::kMemory: return "memory";
    case Eases::kHostMemory: return "host_memory";
    case Eases::kCopies: return "copies";
    case Eases::kThreads: return "threads";
    case Eases::kLoading: return "loading";
  }
  return "";
}

Lever as_one(const std::vector<Lever>& levers) {
  Lever all = levers.back();
  for (const Numerics numerics : {Numerics::kRegrouped, Numerics::kRounding, Numerics::kRedrawn}) {
    const auto is_so = [numerics](const Lever& lever) { return lever.numerics == numerics; };
    if (std::any_of(levers.begin(), levers.end(), is_so)) all.numerics = numerics;
  }
  if (std::any_of(levers.begin(), levers.end(), has_fewer_bits)) all.eases = Eases::kPrecision;
  return all;
}

}  // namespace unstarve::tune
