#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"

namespace unstarve::examine {

/// One run of several that belong together.
struct Stage {
  std::string name;  // "train", or "train-2" where it ran a second time
  std::string run_dir;
  std::int64_t started_wall_ns = 0;
  Reading<double> duration_s = {};       // absent: it runs, or its watcher was killed
  Reading<std::int64_t> exit_code = {};  // likewise
  std::string cause = {};                // of the finding with the largest share; empty: none
  std::string detail = {};
  double share = 0;  // of that finding
};

/// Where the run of a stage belongs: "runs/ID/train", or "train-2" where that is taken already.
/// kInvalidArgument for an id that is no plain name of a folder.
Result<std::string> stage_folder(const std::string& parent, const std::string& run_id,
                                 const std::string& stage);

/// The stages in a folder by when they began; none where it holds none.
std::vector<Stage> read_stages(const std::string& folder);

/// The one that took longest, as far as that is known; an index into `stages`, which has one.
std::size_t longest_stage(const std::vector<Stage>& stages);

}  // namespace unstarve::examine
