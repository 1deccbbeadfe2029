#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "limits/roof.h"

namespace unstarve::position {

/// Where the value of a roof comes from.
enum class RoofSource : std::uint8_t {
  kMeasured,       // on this machine, by `unstarve limits`
  kSpecification,  // the vendor's data sheet
  kModelled,       // measured on an emulated GPU: what its model does
};
std::string_view to_string(RoofSource source);  // "measured", "specification", "modelled"

/// A roof that a job is placed under.
struct UsedRoof {
  std::string name;  // as `unstarve limits` has it, or of the data sheet
  double value = 0;  // above 0
  std::string unit;  // "flop/s", "bytes/s", "1/s"
  RoofSource source = RoofSource::kMeasured;
};

/// What is known of the GPU that a job ran on: measured, and by the data sheet.
struct KnownRoofs {
  std::map<std::string, UsedRoof> products;       // by dtype
  std::map<std::string, UsedRoof> product_specs;  // likewise
  std::optional<UsedRoof> memory;
  std::optional<UsedRoof> memory_spec;
  std::optional<UsedRoof> h2d;          // the fastest way and size
  std::optional<UsedRoof> launches;     // of kernels, one by one
  std::optional<UsedRoof> graph_nodes;  // of kernels, in graphs
  bool measured = false;                // something of this GPU was

  /// The measured one, else that of the data sheet; nullptr where neither is known.
  const UsedRoof* product(const std::string& dtype) const;
  const UsedRoof* any_memory() const;
};

/// Of all that `unstarve limits` kept of this machine (nullptr: nothing) what is of the GPU of that
/// name, and what its data sheet says. `modelled`: it is an emulated one's.
KnownRoofs known_roofs(const limits::MachineRoofs* kept, bool modelled,
                       const std::string& gpu_name);

}  // namespace unstarve::position
