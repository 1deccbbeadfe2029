#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "feed/shard/shard_source.h"

namespace {

using namespace unstarve;
using Bytes = std::vector<std::byte>;

/// One file in memory, whatever its path.
class MemoryFiles final : public io::Files {
 public:
  explicit MemoryFiles(Bytes bytes) : bytes_(std::move(bytes)) {}
  Result<FileDescriptor> open(const std::string&, int, unsigned) override {
    return FileDescriptor();
  }
  Result<io::FileState> state(int) override {
    io::FileState state;
    state.is_regular = true;
    state.size = bytes_.size();
    return state;
  }
  Result<std::size_t> read_at(int, std::uint64_t offset, std::span<std::byte> target) override {
    if (offset > bytes_.size()) return std::size_t{0};
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    const std::size_t count = std::min<std::size_t>(target.size(), bytes_.size() - offset);
    std::copy_n(from, count, target.begin());
    return count;
  }

 private:
  Bytes bytes_;
};

/// Lets `change` see and change the structure at `offset`, and seals it, if it lies in the file.
template <class T, class Change>
void reseal(Bytes& bytes, std::uint64_t offset, Change change) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  change(value);
  feed::seal(value);
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

std::uint64_t sum_of(const Bytes& bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return 0;
  return feed::checksum_of(std::span(bytes).subspan(offset, size));
}

/// Makes the checksums right, which a mutation hardly ever does, so that what they guard is met.
void repair(Bytes& bytes) {
  const auto nothing = [](auto&) {};
  reseal<feed::ShardHeader>(bytes, 0, nothing);
  reseal<feed::RecordHeader>(bytes, sizeof(feed::ShardHeader), nothing);
  if (bytes.size() < sizeof(feed::Trailer)) return;
  std::uint64_t table = 0;
  reseal<feed::Trailer>(bytes, bytes.size() - sizeof(feed::Trailer), [&](feed::Trailer& trailer) {
    trailer.file_size = bytes.size();
    table = trailer.table_offset;
  });
  reseal<feed::TableHeader>(bytes, table, [&](feed::TableHeader& header) {
    const feed::TableLayout layout = feed::layout_of(header);
    const std::uint64_t entries = std::min<std::uint64_t>(header.samples, 64);
    for (std::uint64_t i = 0; i < entries; ++i) {
      reseal<feed::TableEntry>(bytes, table + layout.entries + i * sizeof(feed::TableEntry),
                               nothing);
    }
    const std::uint64_t entry_bytes = header.samples * sizeof(feed::TableEntry);
    header.entries_checksum = sum_of(bytes, table + layout.entries, entry_bytes);
    header.labels_checksum = sum_of(bytes, table + layout.labels, header.labels_size);
    header.names_checksum = sum_of(bytes, table + layout.names, header.names_size);
    header.classes_checksum = sum_of(bytes, table + layout.classes, header.classes_size);
    header.shards_checksum = sum_of(bytes, table + layout.shards, header.shards_size);
  });
}

void read_all(const std::string& path, const Bytes& bytes) {
  const auto source = feed::ShardSource::open(path, std::make_shared<MemoryFiles>(bytes));
  if (!source) return;
  const auto reader = (*source)->open_reader();
  std::vector<std::byte> buffer;
  const std::uint64_t count = std::min<std::uint64_t>((*source)->size(), 64);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto sample = (*reader)->read(i);
    if (sample && sample->form == feed::SampleForm::kCoefficients) {
      (void)(*reader)->read_part(i, 100, buffer);
    }
    (void)(*source)->read_whole(i, buffer);
    (void)(*source)->locate(i);
    (void)(*source)->label(i);
  }
  (void)(*source)->table().verify();
}

}  // namespace

/// Shards are copied, cut off, damaged, and come from anywhere. The first byte says whether the
/// checksums are made right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(first + 1, first + size);
  if (data[0] % 2 == 1) repair(bytes);
  read_all("input.ush", bytes);
  return 0;
}
