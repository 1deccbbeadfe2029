#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "predict/resampling.h"

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
  std::optional<LoaderCost> cache;           // with a cache that holds a copy of each image
  double cache_fill_cpu_s = 0;               // a sample while that cache was filled
  std::optional<LoaderCost> shards;          // on shards packed from some of its images
  Reading<double> parallel_efficiency = {};  // what each core after the first adds, 0..1
  int threads = 1;                           // as many as the process may use CPUs
  std::vector<std::string> remarks;          // what could not be measured, and why
};

/// Loads images of `image_folder` for about two seconds, with one thread and with all usable cores;
/// then fills a cache with some of them, and packs them, both in a temporary folder, and loads them
/// from there for a second each.
Calibration calibrate(const std::string& image_folder, NativeOutput output);

/// Seconds that this system takes to get memory of that size back from a process whose allocator
/// is libc's, as PyTorch's is: next to nothing for what the allocator keeps, the work of unmapping
/// every page for what it does not.
predict::Range measure_freeing(double bytes);

}  // namespace unstarve::cli
