#include "feed/samples/sample_store.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/errors.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

using feed::SampleRecord;
using feed::SampleStore;

using Part = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Record = nb::ndarray<nb::array_api, std::uint8_t, nb::ndim<1>, nb::device::cpu>;

std::unique_ptr<SampleStore> open_store(const std::string& folder, std::uint64_t samples,
                                        std::uint64_t max_bytes) {
  return value_or_raise(SampleStore::open(io::plain_files(), {folder, samples, max_bytes}));
}

nb::object read(SampleStore& store, std::uint64_t index, std::uint64_t state) {
  std::optional<SampleRecord> found;
  {
    const nb::gil_scoped_release released;
    found = store.read(index, state);
  }
  if (!found) return nb::none();
  auto owned = std::make_unique<SampleRecord>(std::move(*found));
  SampleRecord* const record = owned.get();
  const nb::capsule owner(owned.release(), [](void* pointer) noexcept {
    const std::unique_ptr<SampleRecord> last(static_cast<SampleRecord*>(pointer));
  });
  return nb::cast(Record(record->bytes.get(), {record->size}, owner));
}

bool write(SampleStore& store, std::uint64_t index, std::uint64_t state, const nb::list& parts) {
  std::vector<Part> arrays;  // which keep their owners' memory as it is
  std::vector<std::span<const std::byte>> bytes;
  for (const nb::handle part : parts) {
    arrays.push_back(nb::cast<Part>(part));
    bytes.push_back(std::as_bytes(std::span(arrays.back().data(), arrays.back().size())));
  }
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    return store.write(index, state, bytes);
  }());
}

nb::dict counts_of(const SampleStore& store) {
  const SampleStore::Counts counts = store.counts();
  nb::dict result;
  result["kept"] = counts.kept;
  result["served"] = counts.served;
  result["bytes"] = counts.bytes;
  return result;
}

}  // namespace

void bind_sample_store(nb::module_& module) {
  nb::class_<SampleStore>(module, "SampleStore",
                          "Samples as bytes in files of a folder, for every process of a job. One "
                          "thread of a process uses it; a forked child may use its parent's.")
      .def(nb::new_(&open_store), nb::arg("folder"), nb::arg("samples"), nb::arg("max_bytes"))
      .def("read", &read, nb::arg("index"), nb::arg("state"), nb::lock_self(),
           "The record, uint8 in memory of its own, or None.")
      .def("count_served", &SampleStore::count_served)
      .def("write", &write, nb::arg("index"), nb::arg("state"), nb::arg("parts"), nb::lock_self(),
           "Whether the parts, together one record, were kept.")
      .def("revoke", &SampleStore::revoke, "Nobody reads or writes any more, in no process.")
      .def_prop_ro("revoked", &SampleStore::is_revoked)
      .def("counts", &counts_of);
}

}  // namespace unstarve::binding
