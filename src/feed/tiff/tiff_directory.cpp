#include "feed/tiff/tiff_directory.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "feed/data/decode_errors.h"

namespace unstarve::feed {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kTiffHeader = 8;
constexpr std::size_t kTagBytes = 12;
constexpr std::size_t kHeldInTag = 4;
constexpr std::uint16_t kTypeShort = 3;
constexpr std::uint16_t kTypeLong = 4;

/// Bytes of a value, by its type.
constexpr std::array<std::size_t, 14> kTypeSizes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};

}  // namespace

bool is_tiff(std::span<const std::byte> file) {
  if (file.size() < kTiffHeader) return false;
  const std::string_view begin(reinterpret_cast<const char*>(file.data()), 4);
  return begin == "II*\0"sv || begin == "MM\0*"sv;
}

std::uint32_t TiffDirectory::read_number(std::span<const std::byte> bytes, std::size_t at,
                                         int size) const {
  std::uint32_t number = 0;
  for (int i = 0; i < size; ++i) {
    const int from = is_big_endian_ ? i : size - 1 - i;
    number =
        number << 8 | std::to_integer<std::uint32_t>(bytes[at + static_cast<std::size_t>(from)]);
  }
  return number;
}

Result<TiffDirectory::Entry> TiffDirectory::entry_at(std::span<const std::byte> file,
                                                     std::size_t at) const {
  Entry entry;
  entry.tag = static_cast<std::uint16_t>(read_number(file, at, 2));
  entry.type = static_cast<std::uint16_t>(read_number(file, at + 2, 2));
  entry.count = read_number(file, at + 4, 4);
  if (entry.type == 0 || entry.type >= kTypeSizes.size()) {
    return fail(ErrorCode::kNotSupported, "a TIFF whose tag {} has type {}: left to Pillow",
                entry.tag, entry.type);
  }
  const std::uint64_t bytes = std::uint64_t{entry.count} * kTypeSizes[entry.type];
  const std::size_t begin = bytes <= kHeldInTag ? at + 8 : read_number(file, at + 8, 4);
  if (begin > file.size() || bytes > file.size() - begin) return cut_short();
  entry.held = file.subspan(begin, static_cast<std::size_t>(bytes));
  return entry;
}

Status TiffDirectory::read(std::span<const std::byte> file) {
  entries_.clear();
  if (!is_tiff(file)) return fail(ErrorCode::kNotSupported, "no TIFF");
  is_big_endian_ = file[0] == std::byte{'M'};
  std::size_t at = read_number(file, 4, 4);
  if (at < kTiffHeader || at > file.size() - 2) return cut_short();
  const std::size_t count = read_number(file, at, 2);
  at += 2;
  // The place of the next image follows.
  if (count * kTagBytes + 4 > file.size() - at) return cut_short();
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < count; ++i, at += kTagBytes) {
    const Result<Entry> entry = entry_at(file, at);
    if (!entry) return forward_error(entry);
    if (!entries_.empty() && entry->tag <= entries_.back().tag) {
      return fail(ErrorCode::kNotSupported, "a TIFF whose tags are not in order: left to Pillow");
    }
    if (entry->held.size() > kHeldInTag) elsewhere += entry->held.size();
    entries_.push_back(*entry);
  }
  if (elsewhere > file.size()) {
    return fail(ErrorCode::kNotSupported, "a TIFF whose tags lie on each other: left to Pillow");
  }
  return {};
}

const TiffDirectory::Entry* TiffDirectory::find(TiffTag tag) const {
  const auto number = static_cast<std::uint16_t>(tag);
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), number,
                       [](const Entry& entry, std::uint16_t wanted) { return entry.tag < wanted; });
  return found != entries_.end() && found->tag == number ? &*found : nullptr;
}

Status TiffDirectory::numbers(TiffTag tag, std::vector<std::uint32_t>& numbers) const {
  numbers.clear();
  const Entry* const entry = find(tag);
  if (entry == nullptr) {
    return fail(ErrorCode::kNotSupported, "a TIFF without tag {}: left to Pillow",
                static_cast<int>(tag));
  }
  if ((entry->type != kTypeShort && entry->type != kTypeLong) || entry->count == 0) {
    return fail(ErrorCode::kNotSupported, "a TIFF whose tag {} holds no number: left to Pillow",
                entry->tag);
  }
  const int size = entry->type == kTypeShort ? 2 : 4;
  for (std::size_t at = 0; at < entry->held.size(); at += static_cast<std::size_t>(size)) {
    numbers.push_back(read_number(entry->held, at, size));
  }
  return {};
}

Result<std::uint32_t> TiffDirectory::number(TiffTag tag,
                                            std::optional<std::uint32_t> otherwise) const {
  if (otherwise && !has(tag)) return *otherwise;
  std::vector<std::uint32_t> all;
  if (Status read = numbers(tag, all); !read) return forward_error(read);
  if (all.size() != 1) {
    return fail(ErrorCode::kNotSupported, "a TIFF whose tag {} holds {} numbers: left to Pillow",
                static_cast<int>(tag), all.size());
  }
  return all.front();
}

std::span<const std::byte> TiffDirectory::bytes(TiffTag tag) const {
  const Entry* const entry = find(tag);
  return entry != nullptr ? entry->held : std::span<const std::byte>();
}

}  // namespace unstarve::feed
