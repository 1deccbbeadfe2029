#include "feed/source/folder_index.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "feed/source/folder_index_format.h"

namespace unstarve::feed {

using index_format::Header;
using index_format::kMagic;

struct FolderIndex::Record : index_format::Record {};

namespace {

/// Values are copied out: the block need not be aligned for them.
template <class Value>
Value load(std::span<const std::byte> bytes, std::uint64_t offset) {
  Value value;
  std::memcpy(static_cast<void*>(&value), bytes.data() + offset, sizeof(Value));
  return value;
}

tl::unexpected<Error> corrupt(const char* problem) {
  return fail(ErrorCode::kCorruptData, "not a sound index of a folder: {}", problem);
}

constexpr std::uint64_t kMaxPath = 1U << 16;

/// False where the file ends before that.
template <class Value>
bool read_all(int file, std::uint64_t offset, std::span<Value> target) {
  io::Files files;
  return io::read_exactly(files, file, offset, std::as_writable_bytes(target)).has_value();
}

/// Whether the sections add up to the size of the block. Nothing here can overflow: each count is
/// first held against the size.
bool sizes_add_up(const Header& header, std::uint64_t size) {
  if (header.folder_count == 0 || header.folder_count > size / sizeof(index_format::Record)) {
    return false;
  }
  if (header.sample_count > size / sizeof(std::uint32_t) || header.names_size > size) return false;
  return index_format::names_at(header) + header.names_size == size;
}

}  // namespace

Result<FolderIndex> FolderIndex::parse(std::shared_ptr<const IndexBytes> bytes) {
  const std::span<const std::byte> block = bytes->bytes();
  if (block.size() < sizeof(Header)) return corrupt("too short");
  const auto header = load<Header>(block, 0);
  if (header.magic != kMagic) return corrupt("another format or version");
  if (!sizes_add_up(header, block.size())) return corrupt("its size");
  const std::span<const std::byte> body = block.subspan(sizeof(Header));
  if (XXH3_64bits_withSeed(body.data(), body.size(), header.seed()) != header.checksum) {
    return corrupt("its checksum");
  }
  FolderIndex index;
  index.owner_ = std::move(bytes);
  index.block_ = block;
  index.block_size_ = block.size();
  index.sample_count_ = header.sample_count;
  index.folder_count_ = header.folder_count;
  index.ends_at_ = index_format::ends_at(header);
  index.names_at_ = index_format::names_at(header);
  index.fingerprint_ = header.fingerprint;
  if (Status status = index.check_records(); !status) return forward_error(status);
  return index;
}

Status FolderIndex::check_records() {
  const std::uint64_t names_size = this->names_size();
  for (std::uint32_t i = 0; i < folder_count_; ++i) {
    const Record now = record(i);
    const bool last = i + 1 == folder_count_;
    const std::uint64_t next_sample = last ? sample_count_ : record(i + 1).first_sample;
    const std::uint64_t next_names = last ? names_size : record(i + 1).names_begin;
    if (i == 0 && (now.first_sample != 0 || now.names_begin != 0)) return corrupt("its start");
    if (next_sample < now.first_sample || next_sample > sample_count_) return corrupt("a count");
    if (next_names < now.names_begin || next_names > names_size) return corrupt("a name's place");
    if (now.parent >= folder_count_) return corrupt("a folder's parent");
    std::uint64_t end = now.path_length;
    for (std::uint64_t sample = now.first_sample; sample < next_sample; ++sample) {
      const std::uint64_t next_end = name_end(sample);
      if (next_end < end) return corrupt("a name's end");
      end = next_end;
    }
    if (end + now.other_length > next_names - now.names_begin) {
      return corrupt("a folder's names");
    }
    if (next_sample > now.first_sample && now.label > classes_.size()) return corrupt("a label");
    if (now.label == classes_.size()) {
      const std::string_view path = folder(i).path;
      classes_.emplace_back(path.empty() ? "." : path);
    }
  }
  return {};
}

FolderIndex::Record FolderIndex::record(std::uint32_t index) const {
  return load<Record>(block_, sizeof(Header) + std::uint64_t{index} * sizeof(Record));
}

std::uint32_t FolderIndex::name_end(std::uint64_t sample) const {
  return load<std::uint32_t>(block_, ends_at_ + sample * sizeof(std::uint32_t));
}

std::uint64_t FolderIndex::names_size() const { return block_size_ - names_at_; }

std::string_view FolderIndex::names(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || end > names_size())
    return {};  // the bytes were changed since they were checked
  return {reinterpret_cast<const char*>(block_.data()) + names_at_ + begin,
          static_cast<std::size_t>(end - begin)};
}

FolderIndex::Folder FolderIndex::folder(std::uint32_t index) const {
  const Record now = record(index);
  const std::uint64_t next =
      index + 1 == folder_count_ ? sample_count_ : record(index + 1).first_sample;
  Folder folder;
  folder.path = names(now.names_begin, now.names_begin + now.path_length);
  folder.stamp = {now.device, now.inode, now.changed_ns};
  folder.trusted = now.trusted != 0;
  folder.first_sample = now.first_sample;
  folder.sample_count = next - now.first_sample;
  folder.other_count = now.other_count;
  const std::uint64_t others =
      now.names_begin + (folder.sample_count > 0 ? name_end(next - 1) : now.path_length);
  folder.first_other = names(others, others + now.other_length);
  folder.parent = now.parent;
  return folder;
}

std::string_view FolderIndex::name(const Record& record, std::uint64_t sample) const {
  const std::uint32_t begin =
      sample == record.first_sample ? record.path_length : name_end(sample - 1);
  return names(record.names_begin + begin, record.names_begin + name_end(sample));
}

std::string_view FolderIndex::name(std::uint32_t folder, std::uint64_t sample) const {
  return name(record(folder), sample);
}

std::uint32_t FolderIndex::folder_of(std::uint64_t sample) const {
  std::uint32_t low = 0;
  std::uint32_t high = folder_count_ - 1;  // the folder lies in [low, high]
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    if (record(middle).first_sample <= sample) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void FolderIndex::append_path(std::uint64_t sample, std::string& path) const {
  const Record in = record(folder_of(sample));
  if (file_ != nullptr) return append_from_file(in, sample, path);
  if (in.path_length > 0) {
    path.append(names(in.names_begin, in.names_begin + in.path_length)).push_back('/');
  }
  path.append(name(in, sample));
}

void FolderIndex::unmap() {
  if (owner_ == nullptr || owner_->file() < 0) return;
  FileDescriptor file(::fcntl(owner_->file(), F_DUPFD_CLOEXEC, 0));
  if (!file) return;  // no descriptor is left: it stays mapped
  const std::span<const std::byte> head = block_.first(static_cast<std::size_t>(ends_at_));
  head_ = std::make_shared<std::vector<std::byte>>(head.begin(), head.end());
  file_ = std::make_shared<FileDescriptor>(std::move(file));
  block_ = *head_;
  owner_.reset();
}

void FolderIndex::append_from_file(const Record& record, std::uint64_t sample,
                                   std::string& path) const {
  // The ends of the name before and of this one; a folder's first begins behind the folder's path.
  std::array<std::uint32_t, 2> ends = {record.path_length, 0};
  const bool first = sample == record.first_sample;
  const std::uint64_t from = first ? sample : sample - 1;
  const std::span<std::uint32_t> wanted = std::span(ends).subspan(first ? 1 : 0);
  if (!read_all(file_->get(), ends_at_ + from * sizeof(ends[0]), wanted)) return;
  const std::uint64_t begin = record.names_begin;
  if (record.path_length > 0) {
    if (!append_name(begin, begin + record.path_length, path)) return;
    path.push_back('/');
  }
  append_name(begin + ends[0], begin + ends[1], path);
}

bool FolderIndex::append_name(std::uint64_t begin, std::uint64_t end, std::string& path) const {
  // Of a file that was changed since it was checked the ends may be anything.
  if (begin > end || end > names_size() || end - begin > kMaxPath) return false;
  const std::size_t before = path.size();
  path.resize(before + static_cast<std::size_t>(end - begin));
  if (read_all(file_->get(), names_at_ + begin, std::span(path).subspan(before))) return true;
  path.resize(before);
  return false;
}

bool FolderIndex::is_of(std::string_view root) const {
  return load<Header>(block_, 0).root_hash == XXH3_64bits(root.data(), root.size());
}

std::int64_t FolderIndex::label(std::uint64_t sample) const {
  return record(folder_of(sample)).label;
}

}  // namespace unstarve::feed
