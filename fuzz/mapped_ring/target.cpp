#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/ring/mapped_ring.h"
#include "base/unique_handle.h"

/// A ring is written by a process that may crash or be replaced, so its reader must take any bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const unstarve::FileDescriptor file(::memfd_create("ring", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return -1;
  auto reader = unstarve::RingReader::open("/proc/self/fd/" + std::to_string(file.get()));
  if (!reader) return 0;
  std::size_t bytes_seen = 0;
  const auto count = [&](std::span<const std::byte> record) { bytes_seen += record.size(); };
  (void)reader->drain(count);
  (void)reader->drain(count);
  (void)reader->text();
  return 0;
}
