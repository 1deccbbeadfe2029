#include "feed/source/zip/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/io/read.h"

namespace unstarve::feed {

namespace {

constexpr std::uint32_t kEndMark = 0x06054B50;
constexpr std::uint32_t kEnd64Mark = 0x06064B50;
constexpr std::uint32_t kLocator64Mark = 0x07064B50;
constexpr std::uint32_t kEntryMark = 0x02014B50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kCommentMax = 0xFFFF;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the value stands in the zip64 field
constexpr std::uint64_t kDirectoryMax = std::uint64_t{1} << 30;

template <class Number>
Number at(std::string_view bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));  // little-endian, as we are
  return number;
}

tl::unexpected<Error> damaged(std::string_view problem) {
  return fail(ErrorCode::kCorruptData, "not a sound zip: {}", problem);
}

/// The end record, behind which there may be a comment that holds anything.
std::optional<std::size_t> find_end(std::string_view tail) {
  if (tail.size() < kEndBytes) return std::nullopt;
  for (std::size_t place = tail.size() - kEndBytes + 1; place-- > 0;) {
    if (at<std::uint32_t>(tail, place) != kEndMark) continue;
    if (place + kEndBytes + at<std::uint16_t>(tail, place + 20) == tail.size()) return place;
  }
  return std::nullopt;
}

Result<std::string> read_bytes(io::Files& files, int file, std::uint64_t offset,
                               std::size_t count) {
  std::string bytes(count, '\0');
  const Status read =
      io::read_exactly(files, file, offset, std::as_writable_bytes(std::span(bytes.data(), count)));
  if (!read) return forward_error(read);
  return bytes;
}

Result<ZipEnd> read_end64(io::Files& files, int file, std::string_view locator,
                          std::uint64_t size) {
  const auto offset = at<std::uint64_t>(locator, 8);
  if (offset > size || size - offset < kEnd64Bytes) return damaged("its end record lies outside");
  const Result<std::string> end = read_bytes(files, file, offset, kEnd64Bytes);
  if (!end) return forward_error(end);
  if (at<std::uint32_t>(*end, 0) != kEnd64Mark) return damaged("it has no zip64 end record");
  return ZipEnd{at<std::uint64_t>(*end, 32), at<std::uint64_t>(*end, 48),
                at<std::uint64_t>(*end, 40)};
}

Result<ZipEnd> read_end(io::Files& files, int file, std::uint64_t size) {
  const std::uint64_t wanted =
      std::min<std::uint64_t>(size, kLocator64Bytes + kEndBytes + kCommentMax);
  const Result<std::string> tail =
      read_bytes(files, file, size - wanted, static_cast<std::size_t>(wanted));
  if (!tail) return forward_error(tail);
  const std::optional<std::size_t> place = find_end(*tail);
  if (!place) return damaged("it has no end record; was it cut short?");
  if (*place >= kLocator64Bytes) {
    const std::string_view locator = std::string_view(*tail).substr(*place - kLocator64Bytes);
    if (at<std::uint32_t>(locator, 0) == kLocator64Mark) {
      return read_end64(files, file, locator, size);
    }
  }
  if (at<std::uint16_t>(*tail, *place + 4) != at<std::uint16_t>(*tail, *place + 6)) {
    return fail(ErrorCode::kNotSupported, "a zip in several parts: join them first");
  }
  return ZipEnd{at<std::uint16_t>(*tail, *place + 10), at<std::uint32_t>(*tail, *place + 16),
                at<std::uint32_t>(*tail, *place + 12)};
}

/// Puts the values that do not fit into 32 bits in their place: the field holds those that are
/// missing, in this order.
Status read_zip64(std::string_view extra, ZipEntry& entry) {
  constexpr std::uint16_t kZip64 = 1;
  while (extra.size() >= 4) {
    const auto id = at<std::uint16_t>(extra, 0);
    const std::size_t length = at<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) return damaged("an extra field reaches past its end");
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != kZip64) continue;
    for (std::uint64_t* const value : {&entry.bytes, &entry.stored_bytes, &entry.header_at}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) return damaged("a zip64 field is too short");
      *value = at<std::uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return {};
  }
  return {};
}

}  // namespace

Result<std::vector<ZipEntry>> parse_zip_directory(std::string_view bytes, std::uint64_t count) {
  if (count > bytes.size() / kEntryBytes) return damaged("its directory is too short");
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.size() < kEntryBytes || at<std::uint32_t>(bytes, 0) != kEntryMark) {
      return damaged("its directory is not where its end says");
    }
    ZipEntry entry;
    entry.is_encrypted = (at<std::uint16_t>(bytes, 8) & 1) != 0;
    entry.method = at<std::uint16_t>(bytes, 10);
    entry.crc = at<std::uint32_t>(bytes, 16);
    entry.stored_bytes = at<std::uint32_t>(bytes, 20);
    entry.bytes = at<std::uint32_t>(bytes, 24);
    entry.header_at = at<std::uint32_t>(bytes, 42);
    const std::size_t name_bytes = at<std::uint16_t>(bytes, 28);
    const std::size_t extra_bytes = at<std::uint16_t>(bytes, 30);
    const std::size_t length =
        kEntryBytes + name_bytes + extra_bytes + std::size_t{at<std::uint16_t>(bytes, 32)};
    if (length > bytes.size()) return damaged("an entry reaches past its directory");
    entry.name = bytes.substr(kEntryBytes, name_bytes);
    const Status wide = read_zip64(bytes.substr(kEntryBytes + name_bytes, extra_bytes), entry);
    if (!wide) return forward_error(wide);
    bytes.remove_prefix(length);
    if (!entry.name.empty() && entry.name.back() != '/') entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<ZipEntry>> read_zip_directory(io::Files& files, int file, std::uint64_t size) {
  const Result<ZipEnd> end = read_end(files, file, size);
  if (!end) return forward_error(end);
  if (end->directory_bytes > kDirectoryMax) {
    return fail(ErrorCode::kNotSupported, "its directory has {} bytes; at most {} are read",
                end->directory_bytes, kDirectoryMax);
  }
  if (end->directory_at > size || end->directory_bytes > size - end->directory_at) {
    return damaged("its directory lies outside of it");
  }
  const Result<std::string> bytes =
      read_bytes(files, file, end->directory_at, static_cast<std::size_t>(end->directory_bytes));
  if (!bytes) return forward_error(bytes);
  return parse_zip_directory(*bytes, end->entries);
}

}  // namespace unstarve::feed
