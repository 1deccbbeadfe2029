#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily set_to_none_lever() {
  return {60, [](const TunedJob& /*job*/) {
            return std::vector{hook_lever("set_to_none", Numerics::kExact, Eases::kZeroing,
                                          "gradients are dropped, and not filled with zeros",
                                          "zero_grad() without set_to_none=False")};
          }};
}

}  // namespace unstarve::tune
