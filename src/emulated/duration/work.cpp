#include "emulated/duration/work.h"

namespace unstarve::emulated {

double bytes_of(NumberType type) {
  switch (type) {
    case NumberType::kF8:
    case NumberType::kI8: return 1;
    case NumberType::kF16:
    case NumberType::kBf16: return 2;
    case NumberType::kF32:
    case NumberType::kI32: return 4;
    case NumberType::kF64:
    case NumberType::kI64:
    case NumberType::kC64: return 8;
    case NumberType::kC128: return 16;
  }
  return 4;
}

}  // namespace unstarve::emulated
