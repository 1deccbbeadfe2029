#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::feed {

/// What a payload is. The container counts kinds and hands them on; it never looks into a payload.
enum class PayloadKind : std::uint8_t {
  kBytes = 0,         // a file, as it was
  kCoefficients = 1,  // a JPEG, losslessly (feed/jpeg/payload)
  kTensor = 2,        // values of fixed shape; the record's meta says which
  kTokens = 3,        // a sequence of integers; meta as for kTensor, of rank 1
};
constexpr std::size_t kPayloadKinds = 4;

}  // namespace unstarve::feed
