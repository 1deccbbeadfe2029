#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "isolation/file_change.h"
#include "tune/trials/tensor_digest.h"

namespace unstarve::tune {

/// How a trial ended.
enum class Ending : std::uint8_t {
  kMeasured,
  kOutOfMemory,
  kKilled,         // by a signal that was not ours
  kTimeout,        // no first step within the time that it was given
  kNotFinite,      // the loss is NaN or infinite
  kCompileFailed,  // torch.compile raised
  kRecompiled,     // torch.compile never stopped compiling
  kNotApplied,     // the hook did not apply the lever
  kTooFewSteps,
  kCrashed,  // it exited otherwise than by 0
};
/// "measured", "out_of_memory" and so on.
std::string_view to_string(Ending ending);

/// What a step's time goes to, as far as somebody saw it; 0: nothing, or not known.
struct StepShares {
  // Of a GPU, as it was recorded.
  double compute = 0;
  double launches = 0;  // the host comes too late, or kernels have gaps; without what memory takes
  double memory = 0;    // of the device, that the host asks for or gives back
  double copies = 0;    // to it, while nothing else runs
  double float_products = 0;  // of compute: products in float32 that leave tensor cores idle
  // Of a training on a CPU, of one step that torch's profiler saw.
  double optimizer = 0;
  double zeroing = 0;
  double system = 0;  // CPU seconds that the system takes for the process, of all time
  // Of both.
  double products = 0;  // of matrices, and convolutions
  double loading = 0;

  bool of_gpu() const { return compute + launches + memory + copies > 0; }
  bool of_cpu() const { return products + optimizer > 0 && !of_gpu(); }
  bool known() const { return of_gpu() || of_cpu() || loading > 0; }
};
/// Of those that are known; none: nothing is.
StepShares mean_of(const std::vector<StepShares>& several);

/// How long calls of the model take, of a job that infers.
struct Latency {
  std::int64_t calls = 0;  // that were timed; 0: none, and the rest is not known
  double median_s = 0;
  double p95_s = 0;  // 95 of 100 take no longer; 0: too few calls to say

  bool known() const { return calls > 0; }
};

/// What a class was constructed with first, of an argument of it that `--arg` names.
struct Constructed {
  std::int64_t value = 0;
  std::string why_not;  // there is no value to begin with; empty: there is
  std::string place;    // "train.py:41", where the script does it; empty: nobody knows, or several
};

/// One run of the job that is to be made.
struct TrialRequest {
  std::string label;                // unique in a search
  std::vector<std::string> levers;  // their ids
  bool survey = false;              // also ask the hook which levers do not apply
  bool until_known = false;         // it may end when its mean step is known
  int parity_seed = -1;             // at least 0: records losses instead of being timed
  int parity_steps = 0;             // so many of them
  bool in_float64 = false;          // the model computes in FP64
  double baseline_step_s = 0;       // it is given up where it is far slower; 0: never
  double first_step_within_s = 0;   // 0: any time
  double times_longer = 1;          // than trials are
  bool first_batch_again = false;   // loaders give their first batch again and again
  // The levers are what stands of them in the command and its environment, and in the script; the
  // hook applies none.
  bool as_written = false;
  std::vector<isolation::FileChange> changes = {};  // to the script
};

/// What came of it.
struct TrialResult {
  std::string label;  // its request's
  Ending ending = Ending::kMeasured;
  std::string why;                    // where it was not measured, in words
  std::vector<double> steps_s;        // of steps behind the warm-up; means of neighbours where many
  std::vector<double> steps_of_each;  // how many steps each of these is the mean of; empty: one
  double mean_step_s = 0;
  double samples_per_step = 0;      // 0: not known
  bool samples_are_rows = false;    // of the model's first input: no loader told them
  std::int64_t stream_workers = 0;  // that may each give all of an iterable data set
  double full_step_samples = 0;     // without the short last batches of passes; 0: not known
  double steps_of_pass = 0;         // over the data; 0: not known
  double input_numbers = 0;  // that input's, in most steps; 0: steps differ, or nobody saw them
  StepShares shares;
  Latency latency;
  double cold_s = 0;  // from the start to the first step
  double wall_s = 0;
  bool given_up = false;  // it was so slow that it was ended early
  double backwards_per_step = 0;
  double skipped_ratio = 0;            // of the steps, those that a GradScaler left out
  std::int64_t peak_memory_bytes = 0;  // 0: not known
  // Of the GPU, all processes together; 0: not known, as on a CPU.
  std::int64_t used_memory_bytes = 0;
  std::int64_t total_memory_bytes = 0;
  std::int64_t allocator_retries = 0;  // times that PyTorch gave back what it kept, to get more
  std::vector<double> losses;          // NaN where none is known
  std::vector<double> gradient_norms;
  std::vector<double> gradient_sketch;  // of the first step: sums of its entries, signs drawn
  // Of the model in each step: rows and numbers of its first input, and how often it was called.
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> calls;
  TensorDigests tensors;                           // by name
  std::map<std::string, std::int64_t> generators;  // what each would draw next, as a sum
  std::string device;
  std::string optimizer;  // its class
  std::string trainer;    // "transformers", "lightning", "accelerate"; empty: none of them
  std::int64_t threads = 0;
  std::int64_t interop_threads = 0;
  std::map<std::string, std::string> why_not;  // by the hook's levers; those that apply are absent
  bool surveyed = false;
  bool loads = true;  // a DataLoader gave batches; where nobody looked, it may have
  std::map<std::string, Constructed> constructed;  // by "DataLoader.batch_size"
  // Not in the journal: what else somebody has to know of it, and where the job's output lies.
  std::vector<std::string> remarks;
  std::string output_file;
};

/// How many steps were timed.
double timed_steps(const TrialResult& result);

nlohmann::json to_json(const StepShares& shares);
/// What is no share is 0.
StepShares shares_from(const nlohmann::json& json);

/// For the journal: a result as it was.
nlohmann::json to_json(const TrialResult& result);
/// Errors: kCorruptData where it is no result.
Result<TrialResult> result_from(const nlohmann::json& json);
/// What is not as it should be is absent, or has no value.
std::vector<std::int64_t> integers_from(const nlohmann::json& list);
std::map<std::string, std::int64_t> generators_from(const nlohmann::json& json);
std::map<std::string, Constructed> constructed_from(const nlohmann::json& json);

}  // namespace unstarve::tune
