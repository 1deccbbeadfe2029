#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/unique_handle.h"
#include "feed/source/tar_index.h"

/// Tars come from anywhere, indexes from whoever may write to the cache. What is accepted must lie
/// inside the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)feed::unpack_tar_index(bytes);
  io::Files files;
  const FileDescriptor file(::memfd_create("tar", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  const Result<feed::TarIndex> index = feed::TarIndex::scan(files, file.get());
  if (!index) return 0;
  for (const feed::TarSample& sample : index->samples) {
    UNSTARVE_CHECK(sample.offset <= size && sample.size <= size - sample.offset,
                   "a sample lies inside its tar");
  }
  const auto packed = feed::pack_tar_index(*index);
  UNSTARVE_CHECK(feed::unpack_tar_index(packed).has_value(), "an index can be read again");
  return 0;
}
