#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include <xxhash.h>

#include "feed/source/folder_index.h"
#include "feed/source/folder_index_format.h"

namespace unstarve::feed {
namespace {

using index_format::Header;
using index_format::kNoLabel;
using index_format::Record;

class OwnedBytes final : public IndexBytes {
 public:
  explicit OwnedBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> bytes() const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::string_view class_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// torchvision's order: classes by name, then the folders of each by their whole path.
bool is_before(const ListedFolder& a, const ListedFolder& b) {
  const std::string_view a_class = class_of(a.path);
  const std::string_view b_class = class_of(b.path);
  return a_class != b_class ? a_class < b_class : a.path < b.path;
}

/// Writes an index's sections side by side.
class Writer {
 public:
  Writer(std::vector<ListedFolder> folders, const FolderIndex* known)
      : folders_(std::move(folders)), known_(known) {
    std::sort(folders_.begin(), folders_.end(), is_before);
    // With classes, images beside them are none of them.
    if (!folders_.front().folders.empty()) {
      folders_.front().files.clear();
      folders_.front().other_count = 0;
      folders_.front().first_other.clear();
    }
  }

  Status write() {
    for (const ListedFolder& folder : folders_) {
      if (Status status = add(folder); !status) return status;
    }
    return {};
  }
  std::vector<std::byte> block(std::string_view root) const;

 private:
  Status add(const ListedFolder& folder);
  void add_name(std::string_view name) {
    names_.append(name);
    ends_.push_back(static_cast<std::uint32_t>(names_.size() - records_.back().names_begin));
  }
  std::uint32_t label_of(const ListedFolder& folder);
  std::uint32_t parent_of(const ListedFolder& folder) const;
  std::uint64_t fingerprint() const;

  std::vector<ListedFolder> folders_;
  const FolderIndex* known_;
  std::unordered_map<std::string_view, std::uint32_t> places_;  // path -> record
  std::vector<Record> records_;
  std::vector<std::uint32_t> ends_;
  std::string names_;
  std::uint32_t class_count_ = 0;
};

std::uint32_t Writer::label_of(const ListedFolder& folder) {
  if (folder.path.empty()) return folder.folders.empty() ? class_count_++ : kNoLabel;
  if (folder.path.find('/') == std::string::npos) ++class_count_;  // a class comes before its parts
  return class_count_ - 1;
}

std::uint32_t Writer::parent_of(const ListedFolder& folder) const {
  const std::size_t slash = folder.path.rfind('/');
  if (slash == std::string::npos) return 0;
  return places_.at(std::string_view(folder.path).substr(0, slash));
}

Status Writer::add(const ListedFolder& folder) {
  Record record;
  record.device = folder.stamp.device;
  record.inode = folder.stamp.inode;
  record.changed_ns = folder.stamp.changed_ns;
  record.first_sample = ends_.size();
  record.names_begin = names_.size();
  record.path_length = static_cast<std::uint32_t>(folder.path.size());
  record.label = label_of(folder);
  record.parent = parent_of(folder);
  record.other_count = folder.other_count;
  record.other_length = static_cast<std::uint32_t>(folder.first_other.size());
  record.trusted = folder.trusted ? 1 : 0;
  places_.emplace(folder.path, static_cast<std::uint32_t>(records_.size()));
  records_.push_back(record);
  names_.append(folder.path);
  if (folder.known_as >= 0) {
    const auto place = static_cast<std::uint32_t>(folder.known_as);
    const FolderIndex::Folder before = known_->folder(place);
    for (std::uint64_t i = 0; i < before.sample_count; ++i) {
      add_name(known_->name(place, before.first_sample + i));
    }
  }
  for (const std::string& name : folder.files) add_name(name);
  names_.append(folder.first_other);
  if (names_.size() - record.names_begin > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kNotSupported, "the names in folder {} take more than 4 GiB",
                folder.path);
  }
  return {};
}

std::uint64_t Writer::fingerprint() const {
  std::uint64_t digest = XXH3_64bits(ends_.data(), ends_.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Record& record = records_[i];
    const std::uint64_t next =
        i + 1 == records_.size() ? ends_.size() : records_[i + 1].first_sample;
    if (record.first_sample == next) continue;
    digest = XXH3_64bits_withSeed(names_.data() + record.names_begin, ends_[next - 1],
                                  digest + record.label);
  }
  return digest;
}

std::vector<std::byte> Writer::block(std::string_view root) const {
  Header header;
  header.sample_count = ends_.size();
  header.names_size = names_.size();
  header.root_hash = XXH3_64bits(root.data(), root.size());
  header.fingerprint = fingerprint();
  header.folder_count = static_cast<std::uint32_t>(records_.size());
  std::vector<std::byte> block(index_format::names_at(header) + names_.size());
  const auto put = [&block](std::uint64_t offset, const void* data, std::size_t size) {
    if (size > 0) std::memcpy(block.data() + offset, data, size);
  };
  put(sizeof(Header), records_.data(), records_.size() * sizeof(Record));
  put(index_format::ends_at(header), ends_.data(), ends_.size() * sizeof(std::uint32_t));
  put(index_format::names_at(header), names_.data(), names_.size());
  header.checksum = XXH3_64bits_withSeed(block.data() + sizeof(Header),
                                         block.size() - sizeof(Header), header.seed());
  put(0, &header, sizeof(header));
  return block;
}

}  // namespace

Result<FolderIndex> FolderIndex::build(std::vector<ListedFolder> folders, std::string_view root,
                                       const FolderIndex* known) {
  std::vector<std::byte> block;
  {
    Writer writer(std::move(folders), known);
    if (Status status = writer.write(); !status) return forward_error(status);
    block = writer.block(root);
  }
  return parse(std::make_shared<OwnedBytes>(std::move(block)));
}

}  // namespace unstarve::feed
