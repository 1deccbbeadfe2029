#include "feed/lzw/lzw.h"

#include <algorithm>
#include <cstring>

#include "feed/data/decode_errors.h"

namespace unstarve::feed {
namespace {

/// A byte of codes is at most so many values: 12 bits stand for less than 4096.
constexpr std::size_t kMostOfACode = 2731;
constexpr std::size_t kCopyBytes = 16;

/// Codes of growing width.
template <LzwKind kKind>
class LzwCodes {
 public:
  explicit LzwCodes(std::span<const std::byte> codes) : codes_(codes) {}

  /// False: there are no more.
  bool next(int bits, std::uint32_t& code) {
    if (count_ < bits) fill();
    if (count_ < bits) return false;
    count_ -= bits;
    const std::uint64_t mask = (1U << bits) - 1U;
    if constexpr (kKind == LzwKind::kGif) {
      code = static_cast<std::uint32_t>(held_ & mask);
      held_ >>= bits;
    } else {
      code = static_cast<std::uint32_t>(held_ >> count_ & mask);
    }
    return true;
  }

 private:
  void fill() {
    for (; count_ <= 56 && at_ < codes_.size(); count_ += 8) {
      const auto byte = std::to_integer<std::uint64_t>(codes_[at_++]);
      held_ = kKind == LzwKind::kGif ? held_ | byte << count_ : held_ << 8 | byte;
    }
  }

  std::span<const std::byte> codes_;
  std::size_t at_ = 0;
  std::uint64_t held_ = 0;
  int count_ = 0;  // of bits that have not been taken
};

tl::unexpected<Error> no_such_code() {
  return fail(ErrorCode::kCorruptData, "an image whose pixels are damaged: no such code");
}

/// What is written may be read again where the two overlap. Writes up to kCopyBytes bytes too many.
void copy_forward(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
  if (to - from < std::ptrdiff_t{kCopyBytes}) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (std::size_t i = 0; i < count; i += kCopyBytes) std::memcpy(to + i, from + i, kCopyBytes);
}

}  // namespace

Result<std::span<const std::uint8_t>> LzwUnpacker::unpack(std::span<const std::byte> codes,
                                                          LzwKind kind, int value_bits,
                                                          std::size_t count) {
  if (count / kMostOfACode > codes.size()) return cut_short();
  out_.resize(std::max(out_.size(), count + kCopyBytes));
  const Status filled = kind == LzwKind::kGif ? fill<LzwKind::kGif>(codes, value_bits, count)
                                              : fill<LzwKind::kTiff>(codes, value_bits, count);
  if (!filled) return forward_error(filled);
  return std::span<const std::uint8_t>(out_).first(count);
}

template <LzwKind kKind>
Status LzwUnpacker::fill(std::span<const std::byte> codes, int value_bits, std::size_t count) {
  constexpr bool kIsTiff = kKind == LzwKind::kTiff;
  // The code at which the next one is wider.
  const auto last_of = [](int bits) { return (1U << bits) - (kIsTiff ? 2U : 1U); };
  LzwCodes<kKind> reader(codes);
  const std::uint32_t clear = 1U << value_bits;
  const std::uint32_t end = clear + 1;
  std::uint32_t free = end + 1;  // the next code that gets a string
  int bits = value_bits + 1;
  bool has_cleared = !kIsTiff;
  String last;  // of the code before; of no length after a clear code
  std::uint32_t code = 0;
  for (std::size_t done = 0; done < count;) {
    if (!reader.next(bits, code) || code == end) return cut_short();
    if (code == clear) {
      free = end + 1;
      bits = value_bits + 1;
      last.length = 0;
      has_cleared = true;
      continue;
    }
    const bool is_first = last.length == 0;
    if (!has_cleared || code > free || (is_first && code > clear)) return no_such_code();
    // The string before, and the first value of this one, which comes to lie behind it.
    const String longer = {last.begin, last.length + 1};
    const String known = code == free ? longer : strings_[code];
    last = {static_cast<std::uint32_t>(done), code < clear ? 1 : known.length};
    if (code < clear) {
      out_[done] = static_cast<std::uint8_t>(code);
    } else {
      const std::size_t wanted = std::min<std::size_t>(known.length, count - done);
      copy_forward(out_.data() + known.begin, wanted, out_.data() + done);
    }
    done += last.length;
    if (is_first) continue;
    if (free == kMostCodes) {
      if (kIsTiff) return no_such_code();
      continue;
    }
    strings_[free] = longer;
    if (free == last_of(bits) && bits < kMostBits) ++bits;
    ++free;
  }
  return {};
}

}  // namespace unstarve::feed
