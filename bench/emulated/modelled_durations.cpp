// What the duration model says of the kernels, products and convolutions in traces of real GPUs,
// beside what those took:
//
//   modelled_durations PROFILE TRACE [--rows]
//
// PROFILE is that of the GPU that the trace is from. One line for each kind of work: launches, time
// recorded, time modelled, their ratio, and the median of the single ratios, each weighted by time.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "emulated/duration/duration_model.h"
#include "emulated/duration/kernel_name.h"
#include "observe/durations/record_durations.h"

namespace {

using namespace unstarve;

struct Single {
  double ratio;
  double recorded_ns;
};

struct Kind {
  double launches = 0;
  double recorded_ns = 0;
  double modelled_ns = 0;
  std::vector<Single> singles;
};

class Comparison {
 public:
  explicit Comparison(bool rows) : rows_(rows) {}

  void add(const std::string& kind, const std::string& description, double recorded_ns,
           double modelled_ns, double count) {
    Kind& sum = kinds_[kind];
    sum.launches += count;
    sum.recorded_ns += recorded_ns * count;
    sum.modelled_ns += modelled_ns * count;
    sum.singles.push_back({modelled_ns / std::max(1.0, recorded_ns), recorded_ns * count});
    if (rows_) {
      fmt::print("{:24} {:9.1f} us {:9.1f} us x{:<5} {:5.2f}  {}\n", kind, recorded_ns / 1e3,
                 modelled_ns / 1e3, count, modelled_ns / recorded_ns, description);
    }
  }

  void print() {
    std::vector<std::pair<std::string, Kind>> sorted(kinds_.begin(), kinds_.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.recorded_ns > b.second.recorded_ns;
    });
    Kind all;
    for (auto& [name, kind] : sorted) {
      print_line(name, kind);
      all.launches += kind.launches;
      all.recorded_ns += kind.recorded_ns;
      all.modelled_ns += kind.modelled_ns;
      all.singles.insert(all.singles.end(), kind.singles.begin(), kind.singles.end());
    }
    print_line("all of these", all);
  }

 private:
  static double median(std::vector<Single>& singles) {
    std::sort(singles.begin(), singles.end(),
              [](const Single& a, const Single& b) { return a.ratio < b.ratio; });
    double half = 0;
    for (const Single& single : singles) half += single.recorded_ns / 2;
    for (const Single& single : singles) {
      half -= single.recorded_ns;
      if (half <= 0) return single.ratio;
    }
    return 0;
  }

  static void print_line(const std::string& name, Kind& kind) {
    fmt::print("| {:44} | {:6.0f} | {:9.2f} | {:9.2f} | {:5.2f} | {:5.2f} |\n", name, kind.launches,
               kind.recorded_ns / 1e6, kind.modelled_ns / 1e6, kind.modelled_ns / kind.recorded_ns,
               median(kind.singles));
  }

  const bool rows_;
  std::map<std::string, Kind> kinds_;
};

std::string words(const emulated::MatmulWork& work) {
  return fmt::format("{} x {} x {}, {} times", work.m, work.n, work.k, work.batch);
}

std::string words(const emulated::ConvolutionWork& work) {
  return fmt::format("{} x {} -> {}, {}x{} -> {}x{}, filter {}x{}, groups {}", work.batch,
                     work.input_channels, work.output_channels, work.input[0], work.input[1],
                     work.output[0], work.output[1], work.filter[0], work.filter[1], work.groups);
}

bool is_torch_kernel(const std::string& name) {
  return name.find("at::native") != std::string::npos || name.starts_with("triton_");
}

void compare(const emulated::DurationModel& model, const observe::RecordedDurations& durations,
             bool tf32, Comparison& comparison) {
  double rest_ns = 0;
  for (const emulated::RecordedKernel& kernel : durations.recording.kernels) {
    for (const auto& launch : kernel.launches) {
      const double count = static_cast<double>(launch.count);
      if (!is_torch_kernel(kernel.name)) {
        rest_ns += launch.ns * count;
        continue;
      }
      emulated::KernelWork work;
      work.name = kernel.name;
      work.grid = launch.grid;
      work.block = launch.block;
      const std::string base(emulated::KernelName(kernel.name).base());
      comparison.add(base, fmt::format("{} x {}", launch.grid[0], launch.block[0]), launch.ns,
                     static_cast<double>(model.duration_ns(work)), count);
    }
  }
  double library_ns = 0;
  const auto add = [&](const char* kind, auto row) {
    row.work.tf32 = tf32;
    library_ns += row.ns * static_cast<double>(row.count);
    comparison.add(kind, words(row.work), row.ns, static_cast<double>(model.duration_ns(row.work)),
                   static_cast<double>(row.count));
  };
  for (const auto& row : durations.recording.matmuls) add("matrix product", row);
  constexpr const char* kPasses[] = {"convolution", "convolution, input's gradient",
                                     "convolution, weights' gradient"};
  for (const auto& row : durations.recording.convolutions) {
    add(kPasses[static_cast<std::size_t>(row.work.pass)], row);
  }
  fmt::print("Kernels of libraries: {:.1f} ms, of which {:.1f} ms with shapes.\n\n", rest_ns / 1e6,
             library_ns / 1e6);
}

int run(const char* profile_name, const char* trace, bool rows) {
  const Result<emulated::Profile> profile = emulated::find_profile(profile_name);
  const Result<observe::RecordedDurations> durations = observe::record_durations(trace);
  if (!profile || !durations) {
    fmt::print(stderr, "{}\n", profile ? durations.error().message : profile.error().message);
    return 1;
  }
  fmt::print("{} on {}, modelled as {}.\n", trace, durations->recording.device, profile->name);
  const auto model = emulated::DurationModel::create(*profile);
  Comparison comparison(rows);
  compare(*model, *durations, profile->compute_major >= 8, comparison);
  fmt::print("| work | launches | recorded ms | modelled ms | ratio | median |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|\n");
  comparison.print();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "modelled_durations PROFILE TRACE [--rows]\n");
    return 2;
  }
  return run(arguments[1], arguments[2], count > 3 && std::strcmp(arguments[3], "--rows") == 0);
}
