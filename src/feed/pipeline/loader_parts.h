#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/io/files.h"
#include "base/result.h"
#include "feed/batch/batch_pool.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// Starts threads. A seam: the fault tests fail the n-th.
class ThreadStarter {
 public:
  virtual ~ThreadStarter() = default;
  virtual Result<std::jthread> start(std::function<void(std::stop_token)> body);
};

/// CPUs that this process may use: affinity, cpuset and quota, at least 1.
int usable_cpu_count();

/// What a loader stands on; the defaults are the real things. All must outlive the loader.
struct LoaderParts {
  std::shared_ptr<io::Files> files;  // that samples are read from
  std::shared_ptr<SlotMemory> memory;
  std::shared_ptr<ThreadStarter> threads;
  std::shared_ptr<Clock> clock;
  std::function<int()> cpus = usable_cpu_count;
  std::shared_ptr<io::Files> cache_files;  // that copies of them are kept in
  int consumer_slots = 1;  // batches that the consumer holds at a time; their slots are kept
  static LoaderParts real();
};

}  // namespace unstarve::feed
