#include "feed/source/tar_format.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace unstarve::feed {
namespace {

constexpr std::uint64_t kMaxBody = 1 << 20;                   // of names and pax records
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 62;    // of a member
constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;  // in the tar

// Offsets and lengths of a header's fields (POSIX.1-1988, ustar).
struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kName = {0, 100};
constexpr Field kSize = {124, 12};
constexpr Field kChecksum = {148, 8};
constexpr std::size_t kType = 156;
constexpr Field kMagic = {257, 6};
constexpr Field kPrefix = {345, 155};

std::string_view text(std::span<const std::byte> block, Field field) {
  const std::string_view all(reinterpret_cast<const char*>(block.data()) + field.offset,
                             field.size);
  return all.substr(0, all.find('\0'));
}

/// Octal digits between blanks, or GNU's big-endian binary with the top bit set.
std::optional<std::uint64_t> number(std::span<const std::byte> block, Field field) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(block.data()) + field.offset;
  std::uint64_t value = 0;
  if ((bytes[0] & 0x80) != 0) {
    value = bytes[0] & 0x7FU;
    for (std::size_t i = 1; i < field.size; ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | bytes[i];
    }
    return value;
  }
  std::string_view digits = text(block, field);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(digit - '0');  // at most 12 digits: 36 bits
  }
  return value;
}

/// The sum of all bytes, those of the checksum itself as blanks. Some old writers summed chars that
/// were signed.
bool checksum_holds(std::span<const std::byte> block) {
  const std::optional<std::uint64_t> stored = number(block, kChecksum);
  if (!stored) return false;
  std::int64_t plain = 0;
  std::int64_t as_signed = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool blank = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    const auto value = blank ? std::uint8_t{' '} : std::to_integer<std::uint8_t>(block[i]);
    plain += value;
    as_signed += static_cast<std::int8_t>(value);
  }
  const auto wanted = static_cast<std::int64_t>(*stored);
  return wanted == plain || wanted == as_signed;
}

std::uint64_t round_up(std::uint64_t size) {
  return (size + kTarBlock - 1) / kTarBlock * kTarBlock;
}

tl::unexpected<Error> corrupt(std::uint64_t offset, const char* problem) {
  return fail(ErrorCode::kCorruptData, "not a sound tar: {} at offset {}", problem, offset);
}

std::string name_of(std::span<const std::byte> block) {
  const std::string_view prefix =
      text(block, kMagic) == "ustar" ? text(block, kPrefix) : std::string_view();
  if (prefix.empty()) return std::string(text(block, kName));
  return std::string(prefix).append("/").append(text(block, kName));
}

}  // namespace

Result<TarScanner::Step> TarScanner::next(std::span<const std::byte> bytes) {
  if (bytes.size() != wanted_) return corrupt(offset_, "it ends too early");
  if (body_ == Body::kNone) return take_header(bytes);
  if (Status status = take_body(bytes); !status) return forward_error(status);
  offset_ += bytes.size();
  wanted_ = kTarBlock;
  body_ = Body::kNone;
  return Step{};
}

Result<TarScanner::Step> TarScanner::take_header(std::span<const std::byte> block) {
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (std::all_of(block.begin(), block.end(), is_zero)) return Step{Kind::kEnd};
  if (!checksum_holds(block)) return corrupt(offset_, "no header");
  const std::optional<std::uint64_t> stored = number(block, kSize);
  if (!stored || *stored > kMaxSize) return corrupt(offset_, "a size");
  const char type = static_cast<char>(block[kType]);
  if (type == 'x' || type == 'L') {
    if (Status status = expect_body(type == 'x' ? Body::kPax : Body::kLongName, *stored); !status) {
      return forward_error(status);
    }
    return Step{};
  }
  Step step;
  const bool describes_others = type == 'g' || type == 'K' || type == 'V';
  std::uint64_t size = *stored;
  if (!describes_others) {
    // Links, folders and devices carry no bytes, whatever their size says.
    if (type >= '1' && type <= '6') size = 0;
    if (type == '0' || type == '\0' || type == '7') {
      if (long_size_) size = *long_size_;
      step.kind = Kind::kMember;
      step.member = {long_name_.empty() ? name_of(block) : long_name_, offset_ + kTarBlock, size};
    } else if (type == 'S') {
      return fail(ErrorCode::kNotSupported, "a sparse file at offset {} of the tar", offset_);
    }
    long_name_.clear();
    long_size_.reset();
  }
  offset_ += kTarBlock + round_up(size);
  if (size > kMaxSize || offset_ > kMaxOffset) return corrupt(offset_, "a size");
  return step;
}

Status TarScanner::expect_body(Body body, std::uint64_t size) {
  if (size == 0 || size > kMaxBody) return corrupt(offset_, "the length of a name");
  body_ = body;
  body_size_ = size;
  offset_ += kTarBlock;
  wanted_ = static_cast<std::size_t>(round_up(size));
  return {};
}

Status TarScanner::take_body(std::span<const std::byte> bytes) {
  const std::string_view body(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::size_t>(body_size_));
  if (body_ == Body::kPax) return take_pax(body);
  long_name_ = body.substr(0, body.find('\0'));
  return {};
}

/// Records of "LENGTH KEY=VALUE\n", LENGTH counting all of it.
Status TarScanner::take_pax(std::string_view records) {
  while (!records.empty() && records.front() != '\0') {
    std::size_t length = 0;
    const char* begin = records.data();
    const auto [after, error] = std::from_chars(begin, begin + records.size(), length);
    const auto digits = static_cast<std::size_t>(after - begin);
    if (error != std::errc() || length > records.size() || length < digits + 3 ||
        records[digits] != ' ' || records[length - 1] != '\n') {
      return corrupt(offset_, "a pax record");
    }
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return corrupt(offset_, "a pax record");
    const std::string_view value = record.substr(equals + 1);
    if (record.substr(0, equals) == "path") {
      long_name_ = value;
    } else if (record.substr(0, equals) == "size") {
      std::uint64_t size = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), size);
      if (parsed.ec != std::errc() || size > kMaxSize) return corrupt(offset_, "a size");
      long_size_ = size;
    } else if (record.substr(0, 11) == "GNU.sparse.") {
      return fail(ErrorCode::kNotSupported, "a sparse file at offset {} of the tar", offset_);
    }
    records.remove_prefix(length);
  }
  return {};
}

}  // namespace unstarve::feed
