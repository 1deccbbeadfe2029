#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/unique_handle.h"
#include "feed/source/zip/zip_source.h"

/// Archives come from anywhere. Of one that is accepted every image is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  const FileDescriptor file(::memfd_create("zip", MFD_CLOEXEC));
  UNSTARVE_CHECK(::write(file.get(), data, size) == static_cast<ssize_t>(size), "memory");
  const auto source = feed::ZipSource::open({.path = "/proc/self/fd/" + std::to_string(file.get()),
                                             .skip_other_formats = true,
                                             .max_file_bytes = 1 << 20});
  if (!source) return 0;
  const auto reader = (*source)->open_reader();
  for (std::uint64_t i = 0; i < (*source)->size(); ++i) {
    UNSTARVE_CHECK((*source)->label(i) <= static_cast<std::int64_t>((*source)->classes().size()),
                   "a label has a class");
    (void)(*reader)->read(i);
  }
  return 0;
}
