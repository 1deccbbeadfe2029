#include "emulated/nccl/unique_id.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace unstarve::emulated::nccl {
namespace {

constexpr std::string_view kBeginning = "unstarve";
constexpr std::size_t kRandomBytes = 16;
constexpr std::size_t kTextBytes = 2 * kRandomBytes;
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

bool make_unique_id(UniqueId* out) {
  std::array<unsigned char, kRandomBytes> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return false;
  }
  *out = {};
  char* at = std::copy(kBeginning.begin(), kBeginning.end(), out->bytes);
  for (const unsigned char byte : random) {
    *at++ = kDigits[byte >> 4];
    *at++ = kDigits[byte & 15];
  }
  return true;
}

std::optional<std::string> text_of(const UniqueId& id) {
  const std::string_view all(id.bytes, kBeginning.size() + kTextBytes);
  const std::string_view text = all.substr(kBeginning.size());
  if (!all.starts_with(kBeginning) || text.find_first_not_of(kDigits) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(text);
}

}  // namespace unstarve::emulated::nccl
