#pragma once

#include <cstdint>

namespace unstarve::feed {

/// Sums since the loader was opened. Times are ns, added up over all threads.
struct LoaderStats {
  std::uint64_t images = 0;      // decoded and handed to a batch
  std::uint64_t batches = 0;     // delivered
  std::uint64_t bytes_read = 0;  // of image files
  std::int64_t read_ns = 0;
  std::int64_t decode_ns = 0;
  std::int64_t resize_ns = 0;
  std::int64_t load_ns = 0;           // the three above and what lies between
  std::int64_t load_cpu_ns = 0;       // of it on a CPU
  std::int64_t threads_wait_ns = 0;   // loading threads waited for the consumer
  std::int64_t consumer_wait_ns = 0;  // a consumer waited for a batch; several at a time count once
  std::uint64_t failed = 0;           // samples that could not be loaded
  std::uint64_t replaced = 0;         // of these: another took the place
  std::uint64_t left_out = 0;         // of these: skipped
  std::uint64_t retries = 0;          // reads tried again, since the device failed for the moment
  std::uint64_t hints = 0;            // samples announced to the system before they were read
  std::uint64_t slots_allocated = 0;
  int ready_batches = 0;  // now
  int threads = 0;
  bool control_is_due = false;  // there is something that the controller has not looked at
};

}  // namespace unstarve::feed
