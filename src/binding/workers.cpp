#include <fcntl.h>
#include <malloc.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "binding/errors.h"
#include "feed/workers/slot_reader.h"
#include "feed/workers/slot_writer.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

using feed::HeldSlot;
using feed::SlotReader;
using feed::SlotWriter;
using feed::WritableSlot;

using Bytes = nb::ndarray<nb::array_api, std::uint8_t, nb::ndim<1>, nb::device::cpu>;

/// A filled slot; every array on it shares it, and the last one gives it back.
struct SharedSlot {
  std::shared_ptr<HeldSlot> slot;
};

FileDescriptor duplicate(int fd) {
  FileDescriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy)
    raise({ErrorCode::kIo, "cannot duplicate a file descriptor; too many are open", errno});
  return copy;
}

Bytes bytes_of(const SharedSlot& shared, std::size_t offset, std::size_t count) {
  const std::span<std::byte> bytes = shared.slot->bytes();
  if (offset > bytes.size() || count > bytes.size() - offset) {
    raise({ErrorCode::kCorruptData, "a worker named bytes that lie outside of its slot", 0});
  }
  auto owned = std::make_unique<std::shared_ptr<HeldSlot>>(shared.slot);
  const nb::capsule owner(owned.release(), [](void* pointer) noexcept {
    const std::unique_ptr<std::shared_ptr<HeldSlot>> last(
        static_cast<std::shared_ptr<HeldSlot>*>(pointer));
  });
  return Bytes(bytes.data() + offset, {count}, owner);
}

/// The slot's index, address and bytes; the slot is not filled again while the bytes are in use.
nb::tuple acquire(SlotWriter& writer, std::size_t bytes) {
  auto owned = std::make_unique<WritableSlot>(value_or_raise(writer.acquire(bytes)));
  WritableSlot* slot = owned.get();
  const nb::capsule owner(owned.release(), [](void* pointer) noexcept {
    const std::unique_ptr<WritableSlot> last(static_cast<WritableSlot*>(pointer));
  });
  const std::span<std::byte> memory = slot->bytes();
  return nb::make_tuple(slot->index(), reinterpret_cast<std::uintptr_t>(memory.data()),
                        Bytes(memory.data(), {memory.size()}, owner));
}

constexpr int kMappedBytes = 32 << 20;  // the most that glibc sets by itself
constexpr int kKeptBytes = 256 << 20;   // more than most batches take

/// A worker frees a batch's arrays together and then makes the next. What went back to the system
/// in between would come back as pages to be zeroed and mapped one by one. So up to kKeptBytes stay
/// with the process; only arrays from kMappedBytes on are mapped by themselves. False where the C
/// library cannot.
bool keep_freed_memory() {
  return ::mallopt(M_MMAP_THRESHOLD, kMappedBytes) == 1 &&
         ::mallopt(M_TRIM_THRESHOLD, kKeptBytes) == 1;
}

}  // namespace

void bind_workers(nb::module_& module) {
  module.def("create_slot_memory",
             [] { return value_or_raise(feed::create_slot_memory()).release(); });
  // SIGKILL for this process when the thread that started it ends.
  module.def("keep_freed_memory", &keep_freed_memory);
  module.def("die_with_parent", [] {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
      raise({ErrorCode::kNotSupported, "cannot tie a worker to its parent", errno});
    }
  });
  nb::class_<SlotWriter>(module, "SlotWriter")
      .def(nb::new_([](int fd) { return value_or_raise(SlotWriter::open(duplicate(fd))); }),
           nb::arg("fd"))
      .def("acquire", &acquire, nb::arg("bytes"))
      .def("abandon", &SlotWriter::abandon, nb::arg("index"))
      .def_prop_ro("allocations", &SlotWriter::allocations);
  nb::class_<SharedSlot>(module, "HeldSlot")
      .def("bytes", &bytes_of, nb::arg("offset"), nb::arg("count"));
  nb::class_<SlotReader>(module, "SlotReader")
      .def(nb::new_([](int fd) { return value_or_raise(SlotReader::open(duplicate(fd))); }),
           nb::arg("fd"))
      .def(
          "take",
          [](SlotReader& reader, std::uint32_t index) {
            return SharedSlot{std::make_shared<HeldSlot>(value_or_raise(reader.take(index)))};
          },
          nb::arg("index"))
      .def_prop_ro("held_bytes", &SlotReader::held_bytes)
      .def_prop_ro("held_slots", &SlotReader::held_slots);
}

}  // namespace unstarve::binding
