#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/reading.h"

namespace unstarve::diagnose {

/// What the rules reason about: one number each, derived from a Timeline and from what the host
/// and the device's monitor said meanwhile. Absent stays absent, so a rule that needs it abstains.
/// Times end in _ns; ratios are 0..1.
struct Signals {
  // Shares of the worst device's span (docs/partition.md), the last two of what was recorded of it.
  Reading<double> gpu_compute_ratio;
  Reading<double> exposed_communication_ratio;
  Reading<double> exposed_copy_ratio;
  Reading<double> input_wait_ratio;
  Reading<double> sync_ratio;
  Reading<double> launch_ratio;
  Reading<double> kernel_wait_ratio;
  Reading<double> other_ratio;
  // Of launch_ratio, what follows from something else.
  Reading<double> launch_after_sync_ratio;      // short gaps that the host would not have been late
                                                // for, had it not been blocked on the device
  Reading<double> launch_beside_loading_ratio;  // its thread was ready, but the job's own loading
                                                // had the CPUs
  Reading<double> edge_other_ratio;  // of the span: `other` before the first recorded operation and
                                     // after the last
  Reading<double> edge_busy_ratio;   // of the recorded time, part of gpu_compute: at such edges

  // Quality of the recording.
  Reading<double> step_count;                // steps looked at, warm-up left out
  Reading<double> recorded_ratio;            // of the span, time in which the device was recorded
  Reading<double> recorded_step_count;       // steps, and parts of steps, in that time
  Reading<double> ops_without_launch_ratio;  // operations whose launch call was not recorded
  Reading<double> events_lost_ratio;  // events overwritten or damaged before they were read, of all

  // Steps and waits of the training thread.
  Reading<double> step_ns_median;
  Reading<double> step_growth_ratio;   // their time without waits in the last quarter of the run,
                                       // over that in the first; 1 unless each quarter's is longer
  Reading<double> wait_ns_median;      // per step, inside the loader's `__next__`
  Reading<double> wait_ns_mean;        // the same
  Reading<double> wait_ratio;          // of step time; an upper bound of input_wait
  Reading<double> blocked_ratio;       // of step time, in calls that wait for the device
  Reading<double> loader_starts;       // times that a training loader started worker processes
  Reading<double> loader_start_ns;     // each, in the mean: to the first batch, less one fetch
  Reading<double> loader_end_ns;       // in the mean, until its workers had ended, in `__next__`
  Reading<double> startup_wait_ratio;  // of all waiting, what of both lies in the loader
  Reading<double> empty_queue_ratio;   // of the waits, entered with no batch ready
  Reading<double> ready_wait_ratio;    // of all waiting, in waits entered with a batch ready
  Reading<double> order_ratio;  // of all waiting, as looks found it, in the job's own sampler

  Reading<double> generating_ratio;  // of looks at the training thread: at a call of generate()
  Reading<double> uncached_ratio;    // ... of a model without its cache, where nothing is trained

  // The loader, and one batch being fetched from the data set.
  Reading<double> num_workers;        // processes; absent where unstarve's threads load
  Reading<double> worker_cpus;        // that all of them together may use
  Reading<double> worker_busy_ratio;  // of the workers' time, inside fetches
  Reading<double> worker_side_ratio;  // of their CPU time, in other threads than those that fetch
  Reading<double> prefetch_factor;
  Reading<double> batch_size;
  Reading<double> padded_ratio;            // of the columns of a batch of texts: none needs them
  Reading<double> pin_memory;              // 0 or 1
  Reading<double> fetch_ns_median;         // wall time
  Reading<double> fetch_cpu_ratio;         // CPU time of the fetching thread / wall time
  Reading<double> fetch_in_files_ratio;    // of looks at threads within a fetch: they wait in calls
                                           // on files
  Reading<double> fetch_in_network_ratio;  // ... for sockets
  Reading<double> fetch_asleep_ratio;      // ... for a time of their own choice
  Reading<double> fetch_in_locks_ratio;    // ... for other threads of the job
  Reading<double> fetch_sleep_call_ratio;  // of looks at the Python of fetches: at a call of sleep
  // Of looks at the Python of fetches: work that has another way (signals/fetch_work.h).
  Reading<double> fetch_skipped_ratio;  // ... for samples that are another worker's
  Reading<double> fetch_tokenizing_ratio;
  Reading<double> fetch_table_rows_ratio;
  Reading<double> fetch_sound_ratio;
  Reading<double> fetch_array_files_ratio;
  Reading<double> fetch_opening_ratio;
  Reading<double> fetch_connecting_ratio;
  Reading<double> fetch_queries_ratio;
  Reading<double> fetch_parsing_ratio;
  Reading<double> fetch_video_ratio;
  Reading<double> fetch_decompressing_ratio;
  Reading<double> fetch_resizing_ratio;       // of images
  Reading<double> fetch_opened_images_ratio;  // opened_image_work() of them
  Reading<double> fetch_collating_ratio;      // of those looks, in collate
  Reading<double> collating_work_ratio;       // ... at one of these works there
  Reading<double> decode_ratio;   // of a fetch's wall time, on the CPU inside image decoding
  Reading<double> collate_ratio;  // of a fetch's wall time, on the CPU inside collate
  Reading<double> python_ratio;   // of a fetch's wall time, on the CPU outside decoding and collate

  // unstarve's own loader. Of the time that its threads are in its stages, as is decode_ratio then;
  // fetch_cpu_ratio is of all the time that they spend on samples.
  Reading<double> loader_threads;  // that may work, in the mean
  Reading<double> read_ratio;
  Reading<double> transform_ratio;     // resizing included
  Reading<double> threads_idle_ratio;  // of all their time, waiting for the training loop

  // The device's work, on the worst device.
  Reading<double> launches_per_step;          // kernels, copies and memsets
  Reading<double> longest_launch_gap_ratio;   // of the launch time, in its longest gap
  Reading<double> long_launch_gap_ratio;      // of the launch time, in gaps so much longer than a
                                              // launch takes that the host did something else
  Reading<double> long_launch_gap_ns_median;  // of those gaps
  Reading<double> long_launch_gaps_per_step;  // of those gaps
  Reading<double> collection_ratio;   // of the launch time, inside Python's garbage collector
  Reading<double> save_ratio;         // of the launch time, inside torch.save
  Reading<double> empty_cache_ratio;  // of the launch time, inside torch.cuda.empty_cache()
  Reading<double> allocation_ratio;   // of the launch time, in calls that ask the driver for memory
                                      // of the GPU or give it back
  Reading<double> memory_full_per_step;  // PyTorch's allocator found none left: in all of the run
  Reading<double> compile_ratio;         // of the launch time, while torch.compile compiles
  Reading<double> evaluation_ratio;      // of the launch time, in steps that hold an evaluation
  Reading<double> kernel_ns_median;
  Reading<double> product_ratio;        // of the kernels' time, in products whose units are known
  Reading<double> float_product_ratio;  // ... that leave the tensor cores idle
  Reading<double> misaligned_product_ratio;  // ... whose sizes slow tensor cores down
  Reading<double> memory_kernel_ratio;       // of the kernels' time, in those that move memory
  Reading<double> syncs_per_step;            // blocking calls of the training thread
  Reading<double> upload_wait_ratio;    // of the sync time, after a copy to the device was awaited
  Reading<double> read_back_ratio;      // ... after one from the device was
  Reading<double> h2d_copies_per_step;  // host to device
  Reading<double> h2d_bytes_median;     // of one host to device copy
  Reading<double> h2d_bytes_per_step;   // of all of them
  Reading<double> pageable_ratio;      // of host to device bytes; copies of unknown origin left out
  Reading<double> copy_overlap_ratio;  // of the time in which a copy runs, beside a kernel
  Reading<double>
      communication_overlap_ratio;  // of the time in which communication runs, beside compute

  // The host while the job ran.
  Reading<double> trains_on_host;           // 1: the trained parameters lie in host memory; 0: not
  Reading<double> gpu_takes_no_part;        // 1: what GPUs ran is next to nothing beside the steps
  Reading<double> effective_cpus;           // after affinity, cpuset and quota
  Reading<double> job_cpu_cores;            // CPU seconds of the job's process tree per second
  Reading<double> cpu_use_ratio;            // job_cpu_cores / effective_cpus
  Reading<double> cpu_waiting_threads;      // main threads of the job that wait for a CPU
  Reading<double> training_cpu_wait_ratio;  // of the time, the training thread waits for a CPU
  Reading<double> neighbour_cores;    // CPU seconds per second of other processes on the job's CPUs
  Reading<double> throttled_ratio;    // of wall time, held down by the CPU quota
  Reading<double> io_pressure_ratio;  // of wall time, some task waits for storage (PSI)
  Reading<double> page_cache_miss_ratio;   // bytes read from storage / bytes asked for
  Reading<double> storage_bytes_per_s;     // read from storage
  Reading<double> read_call_bytes_per_s;   // returned by read calls, from the page cache or not
  Reading<double> memory_available_ratio;  // of the host's memory
  Reading<double> memory_available_bytes;

  // What the device's monitor says (driver-averaged utilisation).
  Reading<double> gpu_utilisation_mean;       // 0..1
  Reading<double> gpu_utilisation_deviation;  // standard deviation of the samples, 0..1
  Reading<double>
      gpu_utilisation_swings_ratio;  // falls from 70 % or more to 30 % or less, per sample
  Reading<double> gpu_memory_used_ratio;
  Reading<double> thermal_slowdown_ratio;  // of the samples, clocks held down by heat
  Reading<double> power_cap_ratio;         // of the samples, clocks held down by the power limit

  // A name for evidence; empty when unknown.
  std::string blocking_call;  // the call that blocked the training thread most
};

/// One signal of the struct above.
using Signal = Reading<double> Signals::*;

struct SignalField {
  std::string_view name;  // as the member
  Signal signal;
};

/// Every signal with its name, in the order of the struct.
std::span<const SignalField> signal_fields();
std::string_view name_of(Signal signal);

}  // namespace unstarve::diagnose
