#include "roofline/position/position.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace unstarve::roofline {

namespace {

// Clocks are a little off their nominal rate, and medians are off the mean.
constexpr double kTolerance = 1.02;
// Of a step: less changes nothing that anybody would do.
constexpr double kNoteworthyShare = 0.01;
// Of the cores by which a roof was measured: `unstarve roofline` says so from there on too.
constexpr double kDisturbingShare = 0.1;
constexpr const char* kNotMeasured = "not measured on this machine: `unstarve roofline` does that";
constexpr const char* kNoDevice = "no GPU activity was recorded";
constexpr const char* kOnCpu = "the job trains on the CPU";

/// A step's work, the roofs over it, and what does it.
struct Placing {
  StepWork work;
  const KnownRoofs& roofs;
  const Device& device;
};

Term absent(const char* name, std::string why) {
  Term term;
  term.name = name;
  term.why_absent = std::move(why);
  return term;
}

/// Refused where it would take longer than it took.
Term checked(Term term, double step_s) {
  term.share = term.least_s / step_s;
  if (term.share <= kTolerance) return term;
  return absent(term.name.c_str(),
                fmt::format("refused as wrong: it comes to {:.0f} % of the measured step, above "
                            "the roof ({})",
                            100 * term.share, term.roof.name));
}

std::string why_no_flops(const Placing& placing) {
  const trace::FlopText& flops = placing.work.flops;
  if (!flops.refused.empty()) return "not counted: " + flops.refused;
  if (flops.device == "cpu" && placing.device.is_cpu) {
    return "not counted: the step has no product of matrices";
  }
  if (flops.device == "cpu") return "not counted on a GPU: the step's products ran on the CPU";
  return "not counted: `unstarve run --flops` does that";
}

bool counted(const Placing& placing) {
  const trace::FlopText& flops = placing.work.flops;
  const bool there = flops.device == (placing.device.is_cpu ? "cpu" : "cuda");
  return flops.refused.empty() && there && !flops.by_dtype.empty();
}

double sum_of(const trace::FlopText& flops) {
  double sum = 0;
  for (const auto& [dtype, count] : flops.by_dtype) sum += count;
  return sum;
}

/// How long the products take under these roofs; absent with the first dtype that has none.
struct ProductTime {
  double seconds = 0;
  UsedRoof roof;
  std::string without;
};
template <class FindRoof>
ProductTime product_time(const trace::FlopText& flops, FindRoof find) {
  ProductTime time;
  for (const auto& [dtype, count] : flops.by_dtype) {
    const UsedRoof* const roof = find(dtype);
    if (roof == nullptr) {
      time.without = dtype;
      return time;
    }
    const bool first = time.roof.name.empty();
    const bool weaker = roof->source == RoofSource::kSpecification;
    time.seconds += count / roof->value;
    time.roof.name += (first ? "" : " + ") + roof->name;
    if (first || weaker) time.roof.source = roof->source;
  }
  time.roof.unit = "flop/s";
  if (time.seconds > 0) time.roof.value = sum_of(flops) / time.seconds;
  return time;
}

Term compute_term(const Placing& placing) {
  const StepWork& work = placing.work;
  if (!counted(placing)) return absent("compute", why_no_flops(placing));
  const ProductTime time = product_time(
      work.flops, [&](const std::string& dtype) { return placing.roofs.product(dtype); });
  if (!time.without.empty()) {
    const auto why = placing.roofs.why_no_product.find(time.without);
    return absent("compute", why == placing.roofs.why_no_product.end()
                                 ? fmt::format("products of {} were {}", time.without, kNotMeasured)
                                 : fmt::format("products of {} have no roof here: {}", time.without,
                                               why->second));
  }
  return checked({"compute", sum_of(work.flops), "flop", time.roof, time.seconds, 0, ""},
                 *work.step_s);
}

/// Why nothing is known of what the memory moves; empty where something is.
std::string why_no_bytes(const Placing& placing) {
  const trace::FlopText& flops = placing.work.flops;
  if (!flops.beyond_cache_bytes) {
    return placing.device.is_cpu
               ? "the system does not say how large the CPU's caches are, or the job's PyTorch how "
                 "its operands lie"
               : "the job's PyTorch does not say how large the L2 cache is, or how its operands "
                 "lie";
  }
  if (!placing.device.is_cpu || *flops.beyond_cache_bytes > 0) return {};
  // A CPU's caches often hold all that an operator takes: a bound of nothing would look like one.
  return fmt::format(
      "no operator has more operands than the CPU's caches hold{}: what of them the "
      "memory moves is not known",
      flops.cache_bytes ? fmt::format(" ({:.3g} MB)", 1e-6 * *flops.cache_bytes) : std::string());
}

Term memory_term(const Placing& placing) {
  const auto& [work, roofs, device] = placing;
  if (!counted(placing)) return absent("memory", why_no_flops(placing));
  if (std::string why = why_no_bytes(placing); !why.empty()) {
    return absent("memory", std::move(why));
  }
  const UsedRoof* const roof = roofs.any_memory();
  if (roof == nullptr) return absent("memory", kNotMeasured);
  const double bytes = *work.flops.beyond_cache_bytes;
  return checked({"memory", bytes, "bytes", *roof, bytes / roof->value, 0, ""}, *work.step_s);
}

Term h2d_term(const Placing& placing) {
  const auto& [work, roofs, device] = placing;
  if (device.is_cpu) return absent("h2d", kOnCpu);
  if (!work.h2d_bytes) return absent("h2d", kNoDevice);
  if (!roofs.h2d) return absent("h2d", kNotMeasured);
  const double bytes = *work.h2d_bytes;
  return checked({"h2d", bytes, "bytes", *roofs.h2d, bytes / roofs.h2d->value, 0, ""},
                 *work.step_s);
}

Term launch_term(const Placing& placing) {
  const auto& [work, roofs, device] = placing;
  if (device.is_cpu) return absent("launches", kOnCpu);
  if (!work.launches) return absent("launches", kNoDevice);
  if (!roofs.launches) return absent("launches", kNotMeasured);
  const double in_graphs = work.graph_nodes.value_or(0);
  double seconds = *work.launches / roofs.launches->value;
  // Without a roof of theirs nodes of graphs count nothing: the bound stays one.
  if (roofs.graph_nodes) seconds += in_graphs / roofs.graph_nodes->value;
  UsedRoof roof = *roofs.launches;
  const double amount = *work.launches + in_graphs;
  if (in_graphs > 0 && seconds > 0) roof.value = amount / seconds;
  return checked({"launches", amount, "1", std::move(roof), seconds, 0, ""}, *work.step_s);
}

Term loader_term(const StepWork& work) {
  if (!work.loader_cpu_s) return absent("loader", "no loader's CPU time was recorded");
  if (!work.cores || !(*work.cores > 0)) {
    return absent("loader", "how many CPUs the job may use was not observed");
  }
  const UsedRoof cores = {fmt::format("{:.3g} CPUs", *work.cores), *work.cores, "cpu_s/s",
                          RoofSource::kMeasured};
  const double seconds = *work.loader_cpu_s / *work.cores;
  return checked({"loader", *work.loader_cpu_s, "cpu_s", cores, seconds, 0, ""}, *work.step_s);
}

Utilization utilization(const Placing& placing, const std::map<std::string, UsedRoof>& roofs,
                        const char* roof_name) {
  const StepWork& work = placing.work;
  if (!counted(placing)) return {0, why_no_flops(placing)};
  const ProductTime time =
      product_time(work.flops, [&](const std::string& dtype) -> const UsedRoof* {
        const auto found = roofs.find(dtype);
        return found == roofs.end() ? nullptr : &found->second;
      });
  if (!time.without.empty())
    return {0, fmt::format("{} of {} is not known", roof_name, time.without)};
  const double ratio = time.seconds / *work.step_s;
  if (ratio <= kTolerance) return {ratio, ""};
  return {0, fmt::format("refused as wrong: {:.0f} % of what can be", 100 * ratio)};
}

void add_notes(const Placing& placing, Position& position) {
  const StepWork& work = placing.work;
  const trace::FlopText& flops = work.flops;
  if (!counted(placing)) return;
  std::vector<std::string> unseen = flops.not_counted;
  if (flops.compiled) unseen.emplace_back("kernels that torch.compile wrote");
  if (work.graph_nodes.value_or(0) > 0) unseen.emplace_back("what CUDA graphs replay");
  position.flops_at_least = !unseen.empty();
  if (!unseen.empty()) {
    position.notes.push_back(
        fmt::format("Not counted, so that it is more: {}.", fmt::join(unseen, ", ")));
  }
}

/// What is told of a CPU alone: its cores do everything, others' work too, and not always all of
/// them.
void add_cpu_notes(const Placing& placing, Position& position) {
  const auto& [work, roofs, device] = placing;
  if (!device.is_cpu || !counted(placing)) return;
  const auto all_threads = static_cast<double>(roofs.product_threads.value_or(1));
  if (!roofs.products.empty() && roofs.others_cores >= kDisturbingShare * all_threads) {
    position.notes.push_back(
        fmt::format("While products were measured, others kept {:.2g} CPUs busy: their roof may be "
                    "higher. `unstarve roofline --only gemm` measures it again.",
                    roofs.others_cores));
  }
  const Term& compute = position.terms.front();
  if (!compute.why_absent.empty()) return;
  const Reading<std::int64_t>& threads = work.flops.threads;
  if (threads && roofs.product_threads && *threads < *roofs.product_threads) {
    position.notes.push_back(
        fmt::format("PyTorch computes with {} of the {} threads by which products were measured: "
                    "with these alone their roof is out of reach.",
                    *threads, *roofs.product_threads));
  }
  const Term& loader = position.terms.back();
  if (!loader.why_absent.empty() || loader.share < kNoteworthyShare) return;
  const double both = compute.share + loader.share;
  if (both > kTolerance) return;
  position.notes.push_back(fmt::format(
      "Loading takes its time from the same CPUs: compute and loading together are {:.1f} % of a "
      "step at least.",
      100 * both));
}

void add_point(const Placing& placing, Position& position) {
  const StepWork& work = placing.work;
  // One that is refused as a term has no place in a plot either.
  if (!counted(placing) || !position.terms.front().why_absent.empty()) return;
  const double flops = sum_of(work.flops);
  position.flop_per_s = flops / position.step_s;
  if (work.flops.operand_bytes && *work.flops.operand_bytes > 0) {
    position.flop_per_byte = flops / *work.flops.operand_bytes;
  }
}

}  // namespace

std::optional<Position> place(const StepWork& measured, const KnownRoofs& roofs,
                              const Device& device) {
  if (!measured.step_s || !(*measured.step_s > 0)) return std::nullopt;
  Placing placing = {measured, roofs, device};
  StepWork& work = placing.work;
  work.step_s = std::max(*measured.step_s, measured.device_s.value_or(0));
  Position position;
  position.device = device;
  position.step_s = *work.step_s;
  position.roofs = roofs;
  position.flops = work.flops;
  position.terms = {compute_term(placing), memory_term(placing), h2d_term(placing),
                    launch_term(placing), loader_term(work)};
  for (std::size_t i = 0; i < position.terms.size(); ++i) {
    const Term& term = position.terms[i];
    if (!term.why_absent.empty()) continue;
    if (!position.bound || position.terms[*position.bound].share < term.share) position.bound = i;
  }
  position.of_specification =
      utilization(placing, roofs.product_specs,
                  device.is_cpu ? "the CPU's peak" : "what the data sheet says of products");
  position.of_measured = utilization(placing, roofs.products, "the measured roof of products");
  add_notes(placing, position);
  add_cpu_notes(placing, position);
  if (*work.step_s > kTolerance * *measured.step_s) {
    position.notes.push_back(fmt::format(
        "The host runs ahead of the GPU: of a step's times, {:.3g} ms on the host and {:.3g} ms on "
        "the GPU, the longer counts.",
        1e3 * *measured.step_s, 1e3 * *work.step_s));
  }
  add_point(placing, position);
  return position;
}

}  // namespace unstarve::roofline
