#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/reading.h"
#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// Where the value of a roof comes from.
enum class RoofSource : std::uint8_t {
  kMeasured,       // on this machine, by `unstarve roofline`
  kSpecification,  // the vendor's data sheet
  kModelled,       // measured on an emulated GPU: what its model does
};
std::string_view to_string(RoofSource source);  // "measured", "specification", "modelled"

/// A roof that a job is placed under.
struct UsedRoof {
  std::string name;  // as `unstarve roofline` has it, or of the data sheet
  double value = 0;  // above 0
  std::string unit;  // "flop/s", "bytes/s", "1/s"
  RoofSource source = RoofSource::kMeasured;
};

/// What is known of the GPU, or of the CPU, that a job computes on: measured, and by specification.
struct KnownRoofs {
  std::map<std::string, UsedRoof> products;       // by dtype
  std::map<std::string, UsedRoof> product_specs;  // likewise
  std::optional<UsedRoof> memory;
  std::optional<UsedRoof> memory_spec;
  std::optional<UsedRoof> h2d;                        // the fastest way and size
  std::optional<UsedRoof> launches;                   // of kernels, one by one
  std::optional<UsedRoof> graph_nodes;                // of kernels, in graphs
  bool measured = false;                              // something of this device was
  std::map<std::string, std::string> why_no_product;  // by dtype; a clause
  Reading<std::int64_t> product_threads;              // of a CPU, by which products were measured
  double others_cores = 0;  // that others kept busy meanwhile: the CPU's roofs may be higher

  /// The measured one, else that of the data sheet; nullptr where neither is known.
  const UsedRoof* product(const std::string& dtype) const;
  const UsedRoof* any_memory() const;
};

/// Of all that `unstarve roofline` kept of this machine (nullptr: nothing) what is of the GPU of
/// that name, and what its data sheet says. `modelled`: it is an emulated one's.
KnownRoofs known_roofs(const roofline::MachineRoofs* kept, bool modelled,
                       const std::string& gpu_name);

/// What a job that computes on the CPU is placed under.
struct CpuRoofSources {
  const roofline::MachineRoofs& kept;   // by `unstarve roofline`, of this machine
  std::map<std::string, double> peaks;  // of products by dtype, by the CPU's clock; unit: flop/s
  Reading<std::int64_t> threads;        // of the job
};
/// Of memory the roofs that as many threads as the job's reached, or the next larger number: fewer
/// cores move less. Products are measured by all of them together.
KnownRoofs known_cpu_roofs(const CpuRoofSources& sources);

}  // namespace unstarve::roofline
