#include "feed/source/tar_index.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "feed/formats/image_format.h"
#include "feed/source/tar_format.h"

namespace unstarve::feed {
namespace {

// Enough for a header, a label and the next header, which is what follows most images.
constexpr std::size_t kWindow = 4096;
constexpr std::uint64_t kMaxLabelBytes = 32;

/// Reads parts of a file through a small window.
class WindowReader {
 public:
  WindowReader(io::Files& files, int file, std::uint64_t size)
      : files_(files), file_(file), size_(size) {}

  /// As many of the `size` bytes from `offset` on as the file has. Valid until the next call.
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size) {
    if (offset >= size_) return std::span<const std::byte>();
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - offset));
    if (offset < begin_ || offset + size > begin_ + window_.size()) {
      if (Status status = fill(offset, std::max(size, kWindow)); !status) {
        return forward_error(status);
      }
    }
    const std::span<const std::byte> window(window_);
    const auto skipped = static_cast<std::size_t>(offset - begin_);
    return window.subspan(skipped, std::min(size, window.size() - skipped));
  }

 private:
  Status fill(std::uint64_t offset, std::size_t size) {
    window_.resize(size);
    begin_ = offset;
    const Result<std::size_t> got = io::read_available(files_, file_, offset, window_);
    if (!got) return forward_error(got);
    window_.resize(*got);
    return {};
  }

  io::Files& files_;
  int file_;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> window_;
};

enum class Part { kNothing, kImage, kOtherImage, kLabel };

constexpr std::array<std::string_view, 7> kOtherImages = {"png",  "ppm",  "pgm", "tif",
                                                          "tiff", "webp", "gif"};

Part part_of(std::string_view ending) {
  std::string lower(ending);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (is_image_ending("." + lower)) return Part::kImage;
  if (lower == "cls") return Part::kLabel;
  const bool other =
      std::find(kOtherImages.begin(), kOtherImages.end(), lower) != kOtherImages.end();
  return other ? Part::kOtherImage : Part::kNothing;
}

/// The name up to its first dot; nothing where WebDataset takes the file for none of a sample.
std::optional<std::string_view> key_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string::npos || dot == base) return std::nullopt;
  return std::string_view(name).substr(0, dot);
}

/// By what files of one sample know each other: two names of 128 bits that are equal are the same.
using Key = std::pair<std::uint64_t, std::uint64_t>;

Key digest_of(std::string_view key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {hash.high64, hash.low64};
}

/// Gives labels that lie apart from their images to these, as in `tar cf x.tar *.jpg *.cls`.
class Joining {
 public:
  void add_image(std::string_view key, std::size_t sample) {
    images_.push_back({digest_of(key), sample});
  }
  void add_label(std::string_view key, std::int32_t label, std::uint64_t offset) {
    labels_.push_back({digest_of(key), label, offset});
  }

  Status join(TarIndex& index) {
    if (labels_.empty()) return {};
    const auto by_key = [](const Image& a, const Image& b) { return a.key < b.key; };
    std::sort(images_.begin(), images_.end(), by_key);
    for (const Label& label : labels_) {
      const auto [first, last] =
          std::equal_range(images_.begin(), images_.end(), Image{label.key, 0}, by_key);
      if (first == last) {
        if (index.orphan_count++ == 0) index.orphan_offset = label.offset;
        continue;
      }
      TarSample& sample = index.samples[first->sample];
      if (last - first > 1 || sample.label != TarSample::kNoLabel) {
        return fail(ErrorCode::kCorruptData,
                    "the label at offset {} is of several images or labels of one name: pack the "
                    "files of each sample side by side, as tar --sort=name does",
                    label.offset);
      }
      sample.label = label.label;
    }
    return {};
  }

 private:
  struct Image {
    Key key;
    std::size_t sample = 0;
  };
  struct Label {
    Key key;
    std::int32_t label = 0;
    std::uint64_t offset = 0;
  };
  std::vector<Image> images_;  // that have no label beside them
  std::vector<Label> labels_;  // that have no image beside them
};

/// Puts neighbours together.
class Grouping {
 public:
  explicit Grouping(TarIndex& index) : index_(index) {}

  Status add(const TarMember& member, WindowReader& reader) {
    const std::optional<std::string_view> key = key_of(member.name);
    if (!key) return {};
    if (*key != key_) {
      flush();
      key_ = *key;
    }
    switch (part_of(std::string_view(member.name).substr(key->size() + 1))) {
      case Part::kNothing: return {};
      case Part::kLabel: return read_label(member, reader);
      case Part::kOtherImage: other_ = other_ ? other_ : member.offset; return {};
      case Part::kImage: break;
    }
    if (member.size > std::numeric_limits<std::uint32_t>::max()) {
      return fail(ErrorCode::kNotSupported, "an image of {} bytes at offset {}", member.size,
                  member.offset);
    }
    if (image_)
      return fail(ErrorCode::kCorruptData, "two images named {} at offset {}", key_, member.offset);
    image_ = TarSample{member.offset, static_cast<std::uint32_t>(member.size), label_};
    return {};
  }

  /// The tar ends in the middle of what lies at `offset`, so that its sample is not whole.
  void cut(const std::string* name, std::uint64_t offset, std::uint64_t size) {
    const bool may_be_next = name == nullptr ? !image_ || label_ != TarSample::kNoLabel
                                             : key_of(*name).value_or("") != key_;
    if (may_be_next) flush();
    const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    image_ = TarSample{offset, static_cast<std::uint32_t>(std::min(size, most)), label_};
  }

  Status finish() {
    flush();
    return joining_.join(index_);
  }

 private:
  void flush() {
    const bool has_label = label_ != TarSample::kNoLabel;
    if (image_) {
      image_->label = label_;
      if (!has_label && !index_.is_cut(*image_)) joining_.add_image(key_, index_.samples.size());
      index_.samples.push_back(*image_);
    } else if (other_) {
      if (index_.other_count++ == 0) index_.other_offset = *other_;
    } else if (has_label) {
      joining_.add_label(key_, label_, label_offset_);
    }
    image_.reset();
    other_.reset();
    label_ = TarSample::kNoLabel;
  }

  Status read_label(const TarMember& member, WindowReader& reader) {
    const auto size = static_cast<std::size_t>(std::min(member.size, kMaxLabelBytes));
    label_offset_ = member.offset;
    const Result<std::span<const std::byte>> bytes = reader.read(member.offset, size);
    if (!bytes) return forward_error(bytes);
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    while (!text.empty() && text.back() <= ' ' && text.back() >= 0) text.remove_suffix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), label_);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (whole && member.size <= kMaxLabelBytes && label_ != TarSample::kNoLabel) return {};
    return fail(ErrorCode::kCorruptData, "{} at offset {} holds no number", member.name,
                member.offset);
  }

  TarIndex& index_;
  std::string key_;
  std::optional<TarSample> image_;
  std::optional<std::uint64_t> other_;
  std::int32_t label_ = TarSample::kNoLabel;
  std::uint64_t label_offset_ = 0;
  Joining joining_;
};

/// Zeros in the place of a header look like the tar's end: what a download left out, for one.
/// Behind the real end there is nothing.
Status check_end(WindowReader& reader, std::uint64_t end, std::uint64_t size) {
  constexpr std::size_t kPiece = 4096;
  for (std::uint64_t at = end; at < size;) {
    const Result<std::span<const std::byte>> bytes = reader.read(at, kPiece);
    if (!bytes) return forward_error(bytes);
    if (bytes->empty()) return {};
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (!std::all_of(bytes->begin(), bytes->end(), is_zero)) {
      return fail(
          ErrorCode::kCorruptData,
          "the tar ends at offset {}, and more follows: it is damaged, or several tars were "
          "put together; make them one, or name them one by one",
          end);
    }
    at += bytes->size();
  }
  return {};
}

}  // namespace

Result<TarStamp> tar_stamp(io::Files& files, int file) {
  const Result<io::FileState> state = files.state(file);
  if (!state) return forward_error(state);
  if (!state->is_regular) return fail(ErrorCode::kInvalidArgument, "not a regular file");
  return TarStamp{state->identity.inode, state->size, state->modified_ns};
}

Result<TarIndex> TarIndex::scan(io::Files& files, int file, bool accept_cut) {
  const Result<TarStamp> stamp = tar_stamp(files, file);
  if (!stamp) return forward_error(stamp);
  TarIndex index;
  index.stamp = *stamp;
  WindowReader reader(files, file, stamp->size);
  Grouping grouping(index);
  TarScanner scanner;
  if (stamp->size == 0) {
    if (!accept_cut) {
      return fail(ErrorCode::kCorruptData,
                  "the tar has 0 bytes, as after a download that failed: fetch it again, or take "
                  "it out");
    }
    grouping.cut(nullptr, 0, scanner.wanted());
  }
  // A tar that ends without its end mark, but between two files, is whole.
  while (scanner.offset() < stamp->size) {
    const Result<std::span<const std::byte>> bytes =
        reader.read(scanner.offset(), scanner.wanted());
    if (!bytes) return forward_error(bytes);
    if (accept_cut && bytes->size() < scanner.wanted()) {
      grouping.cut(nullptr, scanner.offset(), scanner.wanted());
      break;
    }
    const Result<TarScanner::Step> step = scanner.next(*bytes);
    if (!step) return forward_error(step);
    if (step->kind == TarScanner::Kind::kEnd) {
      if (Status status = check_end(reader, scanner.offset(), stamp->size); !status) {
        return forward_error(status);
      }
      break;
    }
    if (step->kind == TarScanner::Kind::kMore) continue;
    const TarMember& member = step->member;
    if (member.offset > stamp->size || member.size > stamp->size - member.offset) {
      if (accept_cut) {
        grouping.cut(&member.name, member.offset, member.size);
        break;
      }
      return fail(ErrorCode::kCorruptData,
                  "the tar is cut off: {} at offset {} has {} bytes, the tar {} in all",
                  member.name, member.offset, member.size, stamp->size);
    }
    if (Status status = grouping.add(member, reader); !status) return forward_error(status);
  }
  if (Status status = grouping.finish(); !status) return forward_error(status);
  return index;
}

namespace {

// The last character is the version.
constexpr std::array<char, 8> kIndexMagic = {'u', 's', 't', 't', 'a', 'r', 'x', '2'};

struct Packed {
  std::array<char, 8> magic = kIndexMagic;
  std::uint64_t checksum = 0;  // XXH3-64 of all that follows
  TarStamp stamp;
  std::uint64_t other_count = 0;
  std::uint64_t other_offset = 0;
  std::uint64_t orphan_count = 0;
  std::uint64_t orphan_offset = 0;
  std::uint64_t sample_count = 0;
};
static_assert(sizeof(Packed) == 80 && sizeof(TarSample) == 16, "no padding to write");
constexpr std::size_t kUnsummed = 16;

}  // namespace

std::vector<std::byte> pack_tar_index(const TarIndex& index) {
  Packed head;
  head.stamp = index.stamp;
  head.other_count = index.other_count;
  head.other_offset = index.other_offset;
  head.orphan_count = index.orphan_count;
  head.orphan_offset = index.orphan_offset;
  head.sample_count = index.samples.size();
  std::vector<std::byte> bytes(sizeof(head) + index.samples.size() * sizeof(TarSample));
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (!index.samples.empty()) {
    std::memcpy(bytes.data() + sizeof(head), index.samples.data(), bytes.size() - sizeof(head));
  }
  head.checksum = XXH3_64bits(bytes.data() + kUnsummed, bytes.size() - kUnsummed);
  std::memcpy(bytes.data(), &head, sizeof(head));
  return bytes;
}

Result<TarIndex> unpack_tar_index(std::span<const std::byte> bytes) {
  Packed head;
  if (bytes.size() < sizeof(head)) return fail(ErrorCode::kCorruptData, "too short for an index");
  std::memcpy(&head, bytes.data(), sizeof(head));
  const std::span<const std::byte> samples = bytes.subspan(sizeof(head));
  if (head.magic != kIndexMagic || samples.size() % sizeof(TarSample) != 0 ||
      samples.size() / sizeof(TarSample) != head.sample_count ||
      XXH3_64bits(bytes.data() + kUnsummed, bytes.size() - kUnsummed) != head.checksum) {
    return fail(ErrorCode::kCorruptData, "not a sound index of a tar");
  }
  TarIndex index;
  index.stamp = head.stamp;
  index.other_count = head.other_count;
  index.other_offset = head.other_offset;
  index.orphan_count = head.orphan_count;
  index.orphan_offset = head.orphan_offset;
  index.samples.resize(static_cast<std::size_t>(head.sample_count));
  if (!samples.empty()) std::memcpy(index.samples.data(), samples.data(), samples.size());
  for (const TarSample& sample : index.samples) {
    if (index.is_cut(sample)) {
      return fail(ErrorCode::kCorruptData, "an index that points past its tar");
    }
  }
  return index;
}

}  // namespace unstarve::feed
