#include "roofline/position/known_roofs.h"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "roofline/roofs/gpu/data_sheet.h"

namespace unstarve::roofline {

namespace {

constexpr std::array<const char*, 6> kDtypes = {"float32",  "tf32",   "float16",
                                                "bfloat16", "float8", "float64"};

constexpr std::string_view kCpuGemm = "gemm.cpu.";

/// nullptr where there is none of that name and kind.
template <class Value>
const Value* condition_of(const roofline::Roof& roof, std::string_view name) {
  for (const auto& [each, value] : roof.conditions) {
    if (each == name) return std::get_if<Value>(&value);
  }
  return nullptr;
}

bool is_of_gpu(const roofline::Roof& roof, const std::string& gpu_name) {
  const auto* const gpu = condition_of<std::string>(roof, "gpu");
  return roofline::group_of(roof.name) == "gpu" && gpu != nullptr && *gpu == gpu_name;
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
void add_measured(const roofline::Roof& roof, RoofSource source, KnownRoofs& known) {
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
  const auto peak = roofline::data_sheet(gpu_name);
  if (!peak) return;
  for (const char* dtype : kDtypes) {
    const double value = roofline::gemm_peak(*peak, dtype);
    if (value <= 0) continue;
    known.product_specs[dtype] = {std::string("data sheet, ") + dtype, value, "flop/s",
                                  RoofSource::kSpecification};
  }
  if (peak->memory_bytes_per_s > 0) {
    known.memory_spec = {"data sheet, memory", peak->memory_bytes_per_s, "bytes/s",
                         RoofSource::kSpecification};
  }
}

/// How many threads the memory's roofs are of that bound a job of as many: of those that were
/// measured the smallest number that is not below; of all where it has more than any.
std::int64_t bounding_threads(const roofline::MachineRoofs& kept,
                              const Reading<std::int64_t>& threads) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  if (!threads) return best;
  for (const roofline::Roof& roof : kept.roofs) {
    const auto* const roof_threads = condition_of<std::int64_t>(roof, "threads");
    if (roofline::group_of(roof.name) != "memory" || roof_threads == nullptr ||
        *roof_threads < *threads)
      continue;
    best = std::min(best, *roof_threads);
  }
  return best;
}

/// Why the kinds of numbers that have no roof have none.
void explain_products(const roofline::MachineRoofs& kept, KnownRoofs& known) {
  for (const char* dtype : {"float16", "float64", "float8"}) {
    known.why_no_product[dtype] =
        "of a CPU `unstarve roofline` measures float32 and bfloat16 alone";
  }
  for (const roofline::AbsentRoof& absent : kept.absent) {
    for (const char* dtype : {"float32", "bfloat16"}) {
      if (absent.name == "gemm.cpu" || absent.name == std::string(kCpuGemm) + dtype) {
        known.why_no_product[dtype] = absent.reason;
      }
    }
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

KnownRoofs known_roofs(const roofline::MachineRoofs* kept, bool modelled,
                       const std::string& gpu_name) {
  KnownRoofs known;
  add_data_sheet(gpu_name, known);
  if (kept == nullptr || gpu_name.empty()) return known;
  const RoofSource source = modelled ? RoofSource::kModelled : RoofSource::kMeasured;
  for (const roofline::Roof& roof : kept->roofs) {
    if (is_of_gpu(roof, gpu_name)) add_measured(roof, source, known);
  }
  return known;
}

KnownRoofs known_cpu_roofs(const CpuRoofSources& sources) {
  KnownRoofs known;
  for (const auto& [dtype, flop_per_s] : sources.peaks) {
    known.product_specs[dtype] = {"the CPU's peak, " + dtype, flop_per_s, "flop/s",
                                  RoofSource::kSpecification};
  }
  explain_products(sources.kept, known);
  const std::int64_t most_threads = bounding_threads(sources.kept, sources.threads);
  for (const roofline::Roof& roof : sources.kept.roofs) {
    if (!(roof.value > 0)) continue;
    const UsedRoof used = {roof.name, roof.value, roof.unit, RoofSource::kMeasured};
    const auto* const threads = condition_of<std::int64_t>(roof, "threads");
    if (roof.name.rfind(kCpuGemm, 0) == 0) {
      known.products[roof.name.substr(kCpuGemm.size())] = used;
      if (threads != nullptr) known.product_threads = *threads;
      const auto* const others = condition_of<double>(roof, "others_cpu_cores");
      if (others != nullptr) known.others_cores = std::max(known.others_cores, *others);
      known.measured = true;
    } else if (roofline::group_of(roof.name) == "memory") {
      if (threads != nullptr && *threads > most_threads) continue;
      keep_higher(used, known.memory);
      known.measured = true;
    }
  }
  return known;
}

}  // namespace unstarve::roofline
