#include "roofline/roofs/store/main_roofs.h"

#include <array>
#include <string_view>

#include "base/io/files.h"
#include "host/host_files.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/store/roofline_store.h"

namespace unstarve::roofline {

namespace {

constexpr std::array<std::string_view, 8> kMain = {
    "memory.copy",     "page_cache.read",  "disk.sequential", "disk.random_128k",
    "decode.unstarve", "gemm.cpu.float32", "gpu.0.hbm.copy",  "gpu.0.h2d.pinned"};

bool is_of(const Roof& roof, std::string_view name) {
  return roof.name == name || (roof.name.size() > name.size() && roof.name.starts_with(name) &&
                               roof.name[name.size()] == '.');
}

}  // namespace

std::vector<Roof> main_roofs(const MachineRoofs& known) {
  std::vector<Roof> found;
  for (const std::string_view name : kMain) {
    const Roof* best = nullptr;
    for (const Roof& roof : known.roofs) {
      if (is_of(roof, name) && (best == nullptr || roof.value > best->value)) best = &roof;
    }
    if (best == nullptr) continue;
    found.push_back(*best);
    found.back().name = name;
  }
  return found;
}

std::vector<Roof> kept_main_roofs() {
  const auto machine = look_at_machine(host::HostFiles());
  if (!machine) return {};
  io::Files files;
  const RooflineStore store(files, RooflineStore::default_folder());
  const auto document = store.load(machine_key(*machine), false);
  return document ? main_roofs(document->known) : std::vector<Roof>();
}

}  // namespace unstarve::roofline
