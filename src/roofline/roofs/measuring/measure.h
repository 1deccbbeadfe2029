#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host_files.h"
#include "roofline/roofs/disk/disk_reads.h"
#include "roofline/roofs/gpu/gpu_roofs.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// A part of the machine that can be measured alone.
struct Part {
  std::string_view name;            // as --only takes it
  std::vector<std::string> groups;  // what its roofs' names begin with
  double time_share = 0;            // of the time of all parts together
};
const std::vector<Part>& all_parts();

struct MeasureOptions {
  std::vector<std::string> only;  // names of parts; empty: all
  double seconds = 60;            // that all parts together take, about
  DiskOptions disk;
  GpuOptions gpu;
  std::string python;        // for products of matrices; empty: there is none
  std::string photo_folder;  // for decoding; empty: there is none
};

/// kInvalidArgument where `only` names no part.
Status check_parts(const std::vector<std::string>& only);

/// Measures one part after the other. `part_done` is told which groups of roofs are complete: after
/// each part that nobody stopped.
void measure(const Machine& machine, const host::HostFiles& files, const MeasureOptions& options,
             Session& session,
             const std::function<void(const std::vector<std::string>& groups)>& part_done);

}  // namespace unstarve::roofline
