#include "tune/levers/lever.h"

#include <algorithm>

namespace unstarve::tune {

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
