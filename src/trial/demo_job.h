#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trial/installation.h"

namespace unstarve::trial {

/// The demo's data set: the photographs that come with the project, linked often enough that an
/// epoch outlasts a trial. Two class folders of symbolic links in `folder`.
struct DemoData {
  std::string folder;
  int photographs = 0;
  int links = 0;
};
Result<DemoData> make_demo_data(const std::string& photo_dir, const std::string& folder, int links);

/// How long a run of the demo's job takes: whichever comes first.
struct DemoLength {
  double seconds = 10;
  int steps = 0;  // 0: no limit
};

/// The training script on this data: examples/train.py as people first write it.
std::vector<std::string> demo_command(const Installation& parts, const std::string& data_folder,
                                      const std::string& device, const DemoLength& length);

/// Says what to install where the demo's Python lacks what its training script imports.
Status check_demo_python(const Installation& parts);

/// "cuda" where this Python's PyTorch has a CUDA device, else "emulated-a100".
std::string choose_demo_device(const Installation& parts);

}  // namespace unstarve::trial
