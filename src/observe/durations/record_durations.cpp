#include "observe/durations/record_durations.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "observe/durations/library_work.h"
#include "observe/import/byte_source.h"
#include "observe/import/trace_walker.h"

namespace unstarve::observe {

namespace {

using emulated::ConvolutionPass;
using emulated::Recording;

struct Listener : TraceListener {
  Status event(std::string_view json, std::size_t&) override { return reader.read(json); }
  Status devices(std::string_view json) override { return reader.read_devices(json); }
  TracedEventReader reader;
};

struct Sum {
  double ns = 0;
  std::int64_t count = 0;
};

/// PyTorch launches its own kernels in an emulation too, where they are found by their names.
bool is_of_library(std::string_view name) {
  return name.find("at::native") == std::string_view::npos && !name.starts_with("triton_");
}

std::vector<emulated::RecordedKernel> kernels_by_shape(const std::vector<TracedKernel>& kernels) {
  using Shape = std::tuple<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
  std::map<std::string, std::map<Shape, Sum>> sums;
  for (const TracedKernel& kernel : kernels) {
    if (kernel.duration_us < 0) continue;
    Sum& sum = sums[kernel.name][{kernel.grid, kernel.block}];
    sum.ns += kernel.duration_us * 1e3;
    ++sum.count;
  }
  std::vector<emulated::RecordedKernel> recorded;
  for (const auto& [name, shapes] : sums) {
    emulated::RecordedKernel kernel;
    kernel.name = name;
    for (const auto& [shape, sum] : shapes) {
      kernel.launches.push_back({std::get<0>(shape), std::get<1>(shape),
                                 sum.ns / static_cast<double>(sum.count), sum.count});
    }
    recorded.push_back(std::move(kernel));
  }
  return recorded;
}

/// What the library's kernels of one operation took, by the pass of a convolution that each is of.
struct OperationTime {
  double input_gradient_us = 0;
  double weight_gradient_us = 0;
  double other_us = 0;  // not known of which
  bool any = false;
};

/// Operations by thread and time, to find the one that a launch lies in.
class OperationIndex {
 public:
  explicit OperationIndex(const std::vector<TracedOperation>& operations) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      threads_[operations[i].thread].push_back({&operations[i], i});
    }
    for (auto& [thread, list] : threads_) {
      std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
        return std::tuple(a.operation->start_us, -a.operation->duration_us) <
               std::tuple(b.operation->start_us, -b.operation->duration_us);
      });
    }
  }

  /// The operations that the launch lies in, from the innermost out.
  std::vector<std::size_t> around(const TracedLaunch& launch) const {
    std::vector<std::size_t> found;
    const auto thread = threads_.find(launch.thread);
    if (thread == threads_.end()) return found;
    const std::vector<Entry>& list = thread->second;
    auto after = std::upper_bound(
        list.begin(), list.end(), launch.start_us,
        [](double time, const Entry& entry) { return time < entry.operation->start_us; });
    // Operations of libraries lie in one another two deep.
    for (int looked = 0; looked < 4 && after != list.begin(); ++looked) {
      --after;
      const TracedOperation& operation = *after->operation;
      if (launch.start_us <= operation.start_us + operation.duration_us) {
        found.push_back(after->index);
      }
    }
    return found;
  }

 private:
  struct Entry {
    const TracedOperation* operation;
    std::size_t index;
  };
  std::unordered_map<std::string, std::vector<Entry>> threads_;
};

void add_kernel(const TracedKernel& kernel, std::string_view innermost, OperationTime& time) {
  time.any = true;
  const auto says = [&](std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  if (says(innermost, "backward_input") || says(kernel.name, "dgrad")) {
    time.input_gradient_us += kernel.duration_us;
  } else if (says(innermost, "backward_weight") || says(kernel.name, "wgrad")) {
    time.weight_gradient_us += kernel.duration_us;
  } else {
    time.other_us += kernel.duration_us;
  }
}

std::vector<OperationTime> operation_times(const TracedEventReader& events) {
  std::vector<OperationTime> times(events.operations.size());
  const OperationIndex index(events.operations);
  std::unordered_map<std::int64_t, const TracedLaunch*> launches;
  for (const TracedLaunch& launch : events.launches) launches[launch.correlation] = &launch;
  for (const TracedKernel& kernel : events.kernels) {
    if (kernel.duration_us < 0 || !is_of_library(kernel.name)) continue;
    const auto launch = launches.find(kernel.correlation);
    if (launch == launches.end()) continue;
    const std::vector<std::size_t> around = index.around(*launch->second);
    if (around.empty()) continue;
    // The outermost has the shapes of all that lies in it.
    add_kernel(kernel, events.operations[around.front()].name, times[around.back()]);
  }
  return times;
}

void add_convolutions(const LibraryWork& work, const OperationTime& time, Recording& recording) {
  double known_us = time.input_gradient_us + time.weight_gradient_us;
  for (const emulated::ConvolutionWork& convolution : work.convolutions) {
    double us = time.other_us;
    if (convolution.pass != ConvolutionPass::kForward) {
      const bool input = convolution.pass == ConvolutionPass::kInputGradient;
      const double own_us = input ? time.input_gradient_us : time.weight_gradient_us;
      // What is of neither is shared out as the rest is: both passes compute the same products.
      us = own_us + time.other_us * (known_us > 0 ? own_us / known_us : 0.5);
    }
    if (us > 0) recording.convolutions.push_back({convolution, us * 1e3, 1});
  }
}

/// One row for all that have the same shape.
template <class Row, class Key>
std::vector<Row> merged(const std::vector<Row>& rows, Key key) {
  std::map<decltype(key(rows.front())), Row> by_key;
  for (const Row& row : rows) {
    const auto [place, is_new] = by_key.try_emplace(key(row), row);
    if (is_new) continue;
    Row& sum = place->second;
    const double count = static_cast<double>(sum.count);
    sum.ns = (sum.ns * count + row.ns) / (count + 1);
    ++sum.count;
  }
  std::vector<Row> result;
  for (const auto& [unused, row] : by_key) result.push_back(row);
  return result;
}

void merge(Recording& recording) {
  recording.matmuls = merged(recording.matmuls, [](const emulated::RecordedMatmul& row) {
    const emulated::MatmulWork& work = row.work;
    return std::tuple(work.m, work.n, work.k, work.batch, work.input);
  });
  recording.convolutions =
      merged(recording.convolutions, [](const emulated::RecordedConvolution& row) {
        const emulated::ConvolutionWork& work = row.work;
        return std::tuple(work.pass, work.batch, work.input_channels, work.output_channels,
                          work.groups, work.type, work.input, work.filter, work.output,
                          work.stride);
      });
}

}  // namespace

RecordedDurations record_durations(const TracedEventReader& events, const std::string& source) {
  RecordedDurations durations;
  Recording& recording = durations.recording;
  recording.source = source;
  recording.kernels = kernels_by_shape(events.kernels);
  durations.kernels = static_cast<std::int64_t>(events.kernels.size());
  if (!events.devices.empty()) {
    durations.device = events.devices.front();
    recording.device = durations.device->name;
  }
  KnownOutputs known;
  for (const TracedOperation& operation : events.operations) note_output(operation, known);
  const std::vector<OperationTime> times = operation_times(events);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!times[i].any) continue;
    const auto work = library_work(events.operations[i], known);
    if (!work) {
      ++durations.shapeless_operations;
      continue;
    }
    ++durations.operations;
    const double us = times[i].input_gradient_us + times[i].weight_gradient_us + times[i].other_us;
    if (work->matmul) recording.matmuls.push_back({*work->matmul, us * 1e3, 1});
    add_convolutions(*work, times[i], recording);
  }
  merge(recording);
  return durations;
}

Result<RecordedDurations> record_durations(const std::string& path, const ImportOptions& options) {
  const auto source = open_byte_source(path);
  if (!source) return forward_error(source);
  Listener listener;
  TraceWalker walker(**source, path, options, listener);
  if (const Status read = walker.read(); !read) return forward_error(read);
  if (listener.reader.kernels.empty()) {
    return fail(ErrorCode::kCorruptData,
                "{} holds no kernel of a GPU: record it where one is, with torch.profiler", path);
  }
  return record_durations(listener.reader, path);
}

}  // namespace unstarve::observe
