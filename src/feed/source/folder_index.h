#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/source/folder_walk.h"

namespace unstarve::feed {

/// Bytes that an index lies in, kept as long as anything points into them.
class IndexBytes {
 public:
  virtual ~IndexBytes() = default;
  virtual std::span<const std::byte> bytes() const = 0;
  /// The file that they are mapped from; -1: they are in memory.
  virtual int file() const { return -1; }
};

/// The list of a folder's images with their labels, as one block of bytes that is the same in
/// memory and on disk: about 25 bytes for a file, no allocation, nothing parsed.
///
///     header | one record for each folder | end of each file's name (u32) | names
///
/// Folders stand in the order of their samples; the root is first. Little-endian.
/// Thread rule: any thread, but for unmap(). No call reads past the block, even where the bytes
/// change underneath.
class FolderIndex {
 public:
  /// What a folder had when it was listed.
  struct Folder {
    std::string_view path;  // below the root; empty: the root itself
    FolderStamp stamp;
    bool trusted = false;  // false: it may have changed unseen since
    std::uint64_t first_sample = 0;
    std::uint64_t sample_count = 0;
    std::uint32_t other_count = 0;  // image files in other formats
    std::string_view first_other;   // the name of one of them
    std::uint32_t parent = 0;       // the root is its own
  };

  /// Puts the folders in order; what `known` (may be null) knew is taken from there. Errors: more
  /// names in a folder than the format can count.
  static Result<FolderIndex> build(std::vector<ListedFolder> folders, std::string_view root,
                                   const FolderIndex* known);
  /// kCorruptData where the bytes are not an index in every respect.
  static Result<FolderIndex> parse(std::shared_ptr<const IndexBytes> bytes);

  std::span<const std::byte> bytes() const { return block_; }
  std::uint64_t size() const { return sample_count_; }
  std::uint32_t folder_count() const { return folder_count_; }
  Folder folder(std::uint32_t index) const;
  /// The name of a sample that lies in `folder`.
  std::string_view name(std::uint32_t folder, std::uint64_t sample) const;
  /// Lets go of a mapped block: from now on append_path() reads the names from the file, and of the
  /// calls above only size() and folder_count() may be used. A mapping would count as this
  /// process's memory, page for page, and a file that is cut short under it would end the process.
  void unmap();
  /// Where the sample lies below the root. Where the file cannot be read any more, nothing.
  void append_path(std::uint64_t sample, std::string& path) const;
  std::int64_t label(std::uint64_t sample) const;
  const std::vector<std::string>& classes() const { return classes_; }
  /// Whether it was built for this root.
  bool is_of(std::string_view root) const;
  /// A digest of names and labels.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Record;
  Record record(std::uint32_t index) const;
  std::uint32_t folder_of(std::uint64_t sample) const;
  std::string_view name(const Record& record, std::uint64_t sample) const;
  std::uint32_t name_end(std::uint64_t sample) const;
  std::uint64_t names_size() const;
  void append_from_file(const Record& record, std::uint64_t sample, std::string& path) const;
  bool append_name(std::uint64_t begin, std::uint64_t end, std::string& path) const;
  std::string_view names(std::uint64_t begin, std::uint64_t end) const;
  Status check_records();

  std::shared_ptr<const IndexBytes> owner_;             // shared by copies of the index
  std::span<const std::byte> block_;                    // of the owner; unmapped: of head_
  std::shared_ptr<const std::vector<std::byte>> head_;  // all before the ends; shared by copies
  std::shared_ptr<const FileDescriptor> file_;          // only when unmapped; shared by copies
  std::uint64_t sample_count_ = 0;
  std::uint32_t folder_count_ = 0;
  std::uint64_t ends_at_ = 0;
  std::uint64_t names_at_ = 0;
  std::uint64_t block_size_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::vector<std::string> classes_;
};

}  // namespace unstarve::feed
