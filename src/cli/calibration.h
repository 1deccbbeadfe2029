#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"

namespace unstarve::cli {

/// What unstarve's loader hands over when it reads the folder.
enum class NativeOutput {
  kUint8,    // unstarve.ImageFolderLoader: pixels, normalised on the device
  kFloat32,  // unstarve.DataLoader in torch's place: what ToTensor and Normalize make
};

/// What a sample costs.
struct LoaderCost {
  double sample_cpu_s = 0;  // of all threads
  double sample_bytes = 0;  // that are handed over
};

/// What a short measurement on this machine says, with the job's own files.
struct Calibration {
  std::optional<LoaderCost> folder;          // unstarve's loader on the folder
  std::optional<LoaderCost> shards;          // on shards packed from some of its images
  Reading<double> parallel_efficiency = {};  // what each core after the first adds, 0..1
  int threads = 1;                           // as many as the process may use CPUs
  std::vector<std::string> remarks;          // what could not be measured, and why
};

/// Loads images of `image_folder` for about two seconds, with one thread and with all usable cores;
/// then packs some of them into a temporary folder and loads those for a second.
Calibration calibrate(const std::string& image_folder, NativeOutput output);

}  // namespace unstarve::cli
