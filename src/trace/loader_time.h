#pragma once

#include <cstdint>

#include "base/reading.h"
#include "trace/interval.h"

/// What a recording holds of data loaders: who waits for them, and where their time goes.
namespace unstarve::trace {

/// The training thread inside a loader's `__next__`.
struct LoaderWait {
  Interval when = {};
  std::int64_t thread = 0;
  std::int64_t process = 0;
  Reading<std::int64_t> loader_id = {};      // absent where the source names no loaders
  Reading<std::int64_t> ready_batches = {};  // batches in the queue when it was entered
  Reading<std::int64_t> samples = {};        // in the batch it returned
};

/// One batch being fetched from the data set, in a worker or in the training process.
struct Fetch {
  Interval when = {};
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Reading<std::int64_t> loader_id = {};  // of the training process
  Reading<std::int64_t> samples = {};
  Reading<std::int64_t> cpu_ns = {};      // CPU time of the fetching thread
  Reading<std::int64_t> decode_ns = {};   // wall time inside image decoding
  Reading<std::int64_t> collate_ns = {};  // wall time inside collate
};

/// What the time of unstarve's own loader goes to. The numbers are those of docs/formats/run.md.
enum class LoaderStage : std::uint8_t {
  kRead = 0,       // threads read samples; amount: bytes
  kDecode = 1,     // threads decode them; amount: samples
  kTransform = 2,  // threads resize and transform them; amount: samples
  kLoad = 3,       // all that threads spend on samples: the three above and what lies between
  kOnCpu = 4,      // of kLoad, on a CPU
  kRoom = 5,       // threads wait until the consumer has taken a batch
  kBatch = 6,      // the consumer waits for a batch; amount: batches delivered
};

/// What one stage of unstarve's own loader took in one stretch of time.
struct StageTime {
  Interval when = {};
  std::int64_t process = 0;
  std::int64_t loader_id = 0;
  LoaderStage stage = LoaderStage::kRead;
  std::int64_t spent_ns = 0;  // added up over the threads
  Reading<std::int64_t> amount = {};
  Reading<std::int64_t> threads = {};  // that may work, at the end of it
};

}  // namespace unstarve::trace
