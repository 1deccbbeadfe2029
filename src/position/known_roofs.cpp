#include "position/known_roofs.h"

#include <algorithm>
#include <array>
#include <variant>

#include "limits/gpu/data_sheet.h"

namespace unstarve::position {

namespace {

constexpr std::array<const char*, 6> kDtypes = {"float32",  "tf32",   "float16",
                                                "bfloat16", "float8", "float64"};

bool is_of_gpu(const limits::Roof& roof, const std::string& gpu_name) {
  return limits::group_of(roof.name) == "gpu" &&
         std::any_of(roof.conditions.begin(), roof.conditions.end(), [&](const auto& condition) {
           const auto* text = std::get_if<std::string>(&condition.second);
           return condition.first == "gpu" && text != nullptr && *text == gpu_name;
         });
}

/// "h2d.pinned.1MiB" of "gpu.0.h2d.pinned.1MiB".
std::string part_of(const std::string& name) {
  const std::size_t ordinal = name.find('.');
  const std::size_t part = name.find('.', ordinal + 1);
  return part == std::string::npos ? std::string() : name.substr(part + 1);
}

void keep_higher(const UsedRoof& roof, std::optional<UsedRoof>& kept) {
  if (!kept || kept->value < roof.value) kept = roof;
}

/// Of GPUs of one name in a machine the fastest counts: a roof is what can be reached.
void add_measured(const limits::Roof& roof, RoofSource source, KnownRoofs& known) {
  if (!(roof.value > 0)) return;
  const UsedRoof used = {roof.name, roof.value, roof.unit, source};
  const std::string part = part_of(roof.name);
  constexpr std::string_view kGemm = "gemm.";
  if (part.rfind(kGemm, 0) == 0) {
    UsedRoof& kept = known.products[part.substr(kGemm.size())];
    if (kept.value < used.value) kept = used;
  } else if (part.rfind("h2d.", 0) == 0) {
    keep_higher(used, known.h2d);
  } else if (part.rfind("hbm.", 0) == 0) {
    keep_higher(used, known.memory);
  } else if (part == "launch.kernels") {
    keep_higher(used, known.launches);
  } else if (part == "launch.graph_nodes") {
    keep_higher(used, known.graph_nodes);
  }
  known.measured = true;
}

void add_data_sheet(const std::string& gpu_name, KnownRoofs& known) {
  const auto peak = limits::data_sheet(gpu_name);
  if (!peak) return;
  for (const char* dtype : kDtypes) {
    const double value = limits::gemm_peak(*peak, dtype);
    if (value <= 0) continue;
    known.product_specs[dtype] = {std::string("data sheet, ") + dtype, value, "flop/s",
                                  RoofSource::kSpecification};
  }
  if (peak->memory_bytes_per_s > 0) {
    known.memory_spec = {"data sheet, memory", peak->memory_bytes_per_s, "bytes/s",
                         RoofSource::kSpecification};
  }
}

}  // namespace

std::string_view to_string(RoofSource source) {
  switch (source) {
    case RoofSource::kMeasured: return "measured";
    case RoofSource::kModelled: return "modelled";
    case RoofSource::kSpecification: break;
  }
  return "specification";
}

const UsedRoof* KnownRoofs::product(const std::string& dtype) const {
  if (const auto found = products.find(dtype); found != products.end()) return &found->second;
  const auto spec = product_specs.find(dtype);
  return spec == product_specs.end() ? nullptr : &spec->second;
}

const UsedRoof* KnownRoofs::any_memory() const {
  if (memory) return &*memory;
  return memory_spec ? &*memory_spec : nullptr;
}

KnownRoofs known_roofs(const limits::MachineRoofs* kept, bool modelled,
                       const std::string& gpu_name) {
  KnownRoofs known;
  add_data_sheet(gpu_name, known);
  if (kept == nullptr || gpu_name.empty()) return known;
  const RoofSource source = modelled ? RoofSource::kModelled : RoofSource::kMeasured;
  for (const limits::Roof& roof : kept->roofs) {
    if (is_of_gpu(roof, gpu_name)) add_measured(roof, source, known);
  }
  return known;
}

}  // namespace unstarve::position
