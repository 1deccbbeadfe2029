#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_handle.h"
#include "trace/ring_follower.h"
#include "trace/testing/recorded_rows.h"

/// Rings of hook events and of device activity: header, text and records are all untrusted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const unstarve::FileDescriptor file(::memfd_create("ring", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return -1;
  auto ring = unstarve::trace::RingFollower::open("/proc/self/fd/" + std::to_string(file.get()));
  if (!ring) return 0;
  unstarve::trace::RecordedRows rows;
  (void)ring->drain(rows);
  (void)ring->drain(rows);
  return 0;
}
