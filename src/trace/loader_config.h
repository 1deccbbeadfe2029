#pragma once

#include <cstdint>
#include <string>

#include "base/reading.h"

namespace unstarve::trace {

/// What a loader loads, in words of the job's process; empty where it said nothing.
struct DataSet {
  std::string class_name = {};   // with its module
  std::string files_class = {};  // of the data set inside wrappers such as Subset, or the same
  std::string folder = {};       // the bytes of an absolute path, to be opened
};

/// What the job asked one of its loaders for, each time that it was iterated.
struct LoaderConfig {
  std::int64_t process = 0;       // 0: not recorded
  std::int64_t made_ns = 0;       // when its iterator was asked for; 0: not recorded
  Reading<std::int64_t> id = {};  // unique in its process; absent where the source names no loaders
  std::int64_t num_workers = 0;   // native: threads that may work at first
  bool native = false;            // unstarve's engine: threads, no worker processes
  Reading<std::int64_t> prefetch_factor = {};
  Reading<std::int64_t> batch_size = {};
  Reading<bool> pin_memory = {};
  Reading<bool> persistent_workers = {};  // they outlive an epoch
  std::string place = {};                 // where the job makes it: "train.py:41"; empty: unknown
  DataSet data = {};
};

}  // namespace unstarve::trace
