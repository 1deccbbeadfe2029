#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "demo/demo_images.h"
#include "launch/installation.h"

namespace unstarve::demo {

/// The demo's data set: images made of the photographs that come with the project, each linked
/// often enough that an epoch outlasts a trial. A folder per subject, of symbolic links.
struct DemoData {
  std::string folder;
  int images = 0;
  std::uint64_t bytes = 0;  // of all images, each once
  double seconds = 0;       // that making them took
};

/// Makes it in the new folders `images` and `links`.
Result<DemoData> make_demo_data(const std::string& photo_dir, const std::string& images,
                                const std::string& links, const ImageProgress& progress);

/// How long a run of the demo's job takes: whichever comes first.
struct DemoLength {
  double seconds = 10;      // after the first step
  bool until_known = true;  // of the runs with a fix: TrialLength::until_known
  int steps = 0;            // 0: no limit
};

/// A script of examples/ on this data.
std::vector<std::string> demo_command(const launch::Installation& parts, const std::string& script,
                                      const std::string& data_folder, const DemoLength& length);

/// examples/train.py with the one line changed that the drop-in takes, as the file `path`.
Status write_fixed_script(const launch::Installation& parts, const std::string& path);

/// Says what to install where the demo's Python lacks what its training script imports.
Status check_demo_python(const launch::Installation& parts);

/// Whether this Python's PyTorch has a CUDA device.
bool has_cuda_device(const launch::Installation& parts);

}  // namespace unstarve::demo
