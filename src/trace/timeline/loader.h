#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reading.h"
#include "trace/timeline/interval.h"

/// What a recording holds of data loaders: what they were asked for, who waits for them, and where
/// their time goes.
namespace unstarve::trace {

/// What a loader loads, in words of the job's process; empty where it said nothing.
struct DataSet {
  std::string class_name = {};   // with its module
  std::string files_class = {};  // of the data set inside wrappers such as Subset, or the same
  std::string folder = {};       // the bytes of an absolute path, to be opened
  std::vector<std::string> transforms = {};  // of a sample, in their order, as Python prints them
  bool is_stream =
      false;  // an iterable data set, over which each worker process iterates by itself
  // Of such a one: whether its first two workers gave the same. Absent: there were no two, or their
  // batches cannot be compared.
  Reading<bool> workers_repeat = {};
  // Of such a one: where a worker skips the samples of the others, and the functions that made
  // them.
  std::string skips_at = {};
  std::vector<std::string> skipped_made_by = {};
  // Of the columns of its batches of texts: how much no text of the batch needs.
  Reading<double> padded = {};
  // Whether making its samples draws random numbers. Absent: nobody looked.
  Reading<bool> draws = {};
};

/// What the job asked one of its loaders for, each time that it was iterated.
struct LoaderConfig {
  std::int64_t process = 0;             // 0: not recorded
  std::int64_t thread = 0;              // that asked for its iterator; 0: not recorded
  std::int64_t made_ns = 0;             // when it did; 0: not recorded
  Reading<std::int64_t> ready_ns = {};  // when it had it: workers are started meanwhile
  Reading<std::int64_t> id = {};  // unique in its process; absent where the source names no loaders
  std::int64_t num_workers = 0;   // native: threads that may work at first
  bool native = false;            // unstarve's engine: threads, no worker processes
  Reading<std::int64_t> prefetch_factor = {};
  Reading<std::int64_t> batch_size = {};
  Reading<bool> pin_memory = {};
  Reading<bool> persistent_workers = {};  // they outlive an epoch
  std::string place = {};                 // where the job makes it: "train.py:41"; empty: unknown
  DataSet data = {};
  std::string iterated_at = {};  // where the job takes its batches; empty: unknown
  std::string file = {};         // that `place` names, from the root on; empty: unknown
};

/// The training thread inside a loader's `__next__`.
struct LoaderWait {
  Interval when = {};
  std::int64_t thread = 0;
  std::int64_t process = 0;
  Reading<std::int64_t> loader_id = {};      // absent where the source names no loaders
  Reading<std::int64_t> ready_batches = {};  // batches in the queue when it was entered
  Reading<std::int64_t> samples = {};        // in the batch it returned
  bool ended = false;                        // there was none left; workers that do not live on end
};

/// One batch being fetched from the data set, in a worker or in the training process.
struct Fetch {
  Interval when = {};
  std::int64_t process = 0;
  std::int64_t trainer = 0;  // the process that started the worker; 0: not known, or no worker
  std::int64_t thread = 0;
  Reading<std::int64_t> loader_id = {};  // of the training process
  Reading<std::int64_t> samples = {};
  Reading<std::int64_t> cpu_ns = {};      // CPU time of the fetching thread
  Reading<std::int64_t> decode_ns = {};   // the part of it inside image decoding
  Reading<std::int64_t> collate_ns = {};  // the part of it inside collate
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
