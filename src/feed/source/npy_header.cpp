#include <algorithm>
#include <charconv>
#include <cstring>

#include "feed/source/npy_source.h"

namespace unstarve::feed {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxAxes = 16;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

tl::unexpected<Error> not_sound(const char* problem) {
  return fail(ErrorCode::kCorruptData, "not a sound .npy: {}", problem);
}

/// What follows 'key': in a dictionary as NumPy writes it.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = dictionary.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view value = dictionary.substr(at + quoted.size());
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return value;
}

Status take_type(std::string_view value, NpyHeader& header) {
  if (value.empty() || value.front() != '\'') {
    return fail(ErrorCode::kNotSupported, "an .npy of records: only plain numbers can be read");
  }
  value = value.substr(1, value.find('\'', 1) - 1);
  header.type = value;
  if (value.size() < 3) return not_sound("its type");
  if (value[0] == '>') {
    return fail(ErrorCode::kNotSupported,
                "big-endian values ({}): save it with .astype of the same type, '<'", value);
  }
  const bool known_order = value[0] == '<' || value[0] == '|' || value[0] == '=';
  const std::string_view size = value.substr(2);
  const auto parsed = std::from_chars(size.data(), size.data() + size.size(), header.item_bytes);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == size.data() + size.size();
  const bool known_size = header.item_bytes == 1 || header.item_bytes == 2 ||
                          header.item_bytes == 4 || header.item_bytes == 8;
  if (known_order && whole && known_size && std::strchr("biuf", value[1]) != nullptr) return {};
  return fail(ErrorCode::kNotSupported, "values of type '{}': only numbers of 1 to 8 bytes", value);
}

Status take_shape(std::string_view value, NpyHeader& header) {
  const std::size_t close = value.find(')');
  if (value.empty() || value.front() != '(' || close == std::string_view::npos) {
    return not_sound("its shape");
  }
  value = value.substr(1, close - 1);
  std::uint64_t bytes = header.item_bytes;
  while (!value.empty()) {
    std::uint64_t length = 0;
    const auto [after, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || header.shape.size() == kMaxAxes) return not_sound("its shape");
    if (length != 0 && bytes > kMaxBytes / length) return not_sound("its size");
    bytes *= std::max<std::uint64_t>(length, 1);
    header.shape.push_back(length);
    value.remove_prefix(static_cast<std::size_t>(after - value.data()));
    while (!value.empty() && (value.front() == ',' || value.front() == ' ')) value.remove_prefix(1);
  }
  if (header.shape.empty()) return fail(ErrorCode::kNotSupported, "an .npy of a single value");
  return {};
}

}  // namespace

Result<NpyHeader> NpyHeader::parse(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 12 || text.substr(0, kNpyMagic.size()) != kNpyMagic)
    return not_sound("its start");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) {
    return fail(ErrorCode::kNotSupported, "version {} of the .npy format", version);
  }
  // The length has two bytes in version 1, four in the others.
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = 8; i < begin; ++i) {
    length |= std::to_integer<std::size_t>(bytes[i]) << (8 * (i - 8));
  }
  if (length > text.size() - begin) return not_sound("its header's length");
  const std::string_view dictionary = text.substr(begin, length);
  const std::string_view order = value_of(dictionary, "fortran_order");
  if (order.substr(0, 4) == "True") {
    return fail(ErrorCode::kNotSupported,
                "an array in Fortran order: save it with numpy.ascontiguousarray");
  }
  if (order.substr(0, 5) != "False") return not_sound("its order");
  NpyHeader header;
  if (Status status = take_type(value_of(dictionary, "descr"), header); !status) {
    return forward_error(status);
  }
  if (Status status = take_shape(value_of(dictionary, "shape"), header); !status) {
    return forward_error(status);
  }
  header.data_offset = begin + length;
  return header;
}

}  // namespace unstarve::feed
