#include "examine/imported/logged_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "base/units.h"

namespace unstarve::examine {

namespace {

using observe::GpuLogSample;
using observe::LoggedGpu;

Reading<double> mean_of(const LoggedGpu& gpu, Reading<double> GpuLogSample::*reading) {
  double sum = 0;
  double count = 0;
  for (const GpuLogSample& sample : gpu.samples) {
    if (!(sample.*reading)) continue;
    sum += *(sample.*reading);
    ++count;
  }
  return count > 0 ? Reading<double>(sum / count) : WhyAbsent::kNotObserved;
}

/// A batch has to fit where most is used.
Reading<double> most_memory(const LoggedGpu& gpu) {
  Reading<double> most = WhyAbsent::kNotObserved;
  for (const GpuLogSample& sample : gpu.samples) {
    if (sample.memory_used) most = std::max(*sample.memory_used, most.value_or(0));
  }
  return most;
}

/// Of the samples that say it.
Reading<double> how_often(const LoggedGpu& gpu, Reading<bool> GpuLogSample::*reading) {
  double yes = 0;
  double count = 0;
  for (const GpuLogSample& sample : gpu.samples) {
    if (!(sample.*reading)) continue;
    yes += *(sample.*reading) ? 1 : 0;
    ++count;
  }
  return count > 0 ? Reading<double>(yes / count) : WhyAbsent::kNotObserved;
}

diagnose::HostSignals signals_of(const LoggedGpu& gpu) {
  diagnose::HostSignals host;
  for (const GpuLogSample& sample : gpu.samples) {
    if (sample.utilisation) host.gpu_utilisation.push_back(*sample.utilisation);
  }
  host.gpu_memory_used_bytes = most_memory(gpu);
  host.gpu_memory_total_bytes = mean_of(gpu, &GpuLogSample::memory_total);
  host.thermal_slowdown_ratio = how_often(gpu, &GpuLogSample::held_by_heat);
  host.power_cap_ratio = how_often(gpu, &GpuLogSample::held_by_power);
  return host;
}

/// "GPU 0 (NVIDIA A100): 43 % used in the mean of 120 samples over 120 s, 210 of 400 W, ...".
std::string sentence_on(const LoggedGpu& gpu) {
  std::string text = fmt::format("GPU {}", gpu.index);
  if (!gpu.name.empty()) text += fmt::format(" ({})", gpu.name);
  const auto used = mean_of(gpu, &GpuLogSample::utilisation);
  text += used ? fmt::format(": {} used", percent_text(*used)) : ": use not logged";
  text += fmt::format(", in the mean of {} samples", gpu.samples.size());
  if (const auto span = observe::span_of(gpu)) {
    text +=
        fmt::format(" over {:.0f} s", static_cast<double>((*span).duration_ns()) * kSecondsPerNs);
  }
  if (const auto power = mean_of(gpu, &GpuLogSample::power_w)) {
    text += fmt::format(", {:.0f} W", *power);
    if (const auto limit = mean_of(gpu, &GpuLogSample::power_limit_w)) {
      text += fmt::format(" of {:.0f}", *limit);
    }
  }
  if (const auto clock = mean_of(gpu, &GpuLogSample::clock_mhz)) {
    text += fmt::format(", {:.0f} MHz", *clock);
    if (const auto most = mean_of(gpu, &GpuLogSample::clock_max_mhz)) {
      text += fmt::format(" of {:.0f}", *most);
    }
  }
  return text;
}

}  // namespace

LoggedGpus describe_log(const observe::GpuLog& log) {
  LoggedGpus out;
  double least = 2;  // more than all
  for (const LoggedGpu& gpu : log.gpus) {
    const double used = mean_of(gpu, &GpuLogSample::utilisation).value_or(1);
    if (used < least) {
      least = used;
      out.worst = signals_of(gpu);
      out.worst.logged = {gpu.index, static_cast<std::int64_t>(log.gpus.size())};
    }
    out.remarks.push_back(sentence_on(gpu));
  }
  for (const observe::LoggedFault& fault : log.faults) {
    out.remarks.push_back(fmt::format("in place of samples nvidia-smi said, in {} line{}: {}",
                                      fault.lines, fault.lines == 1 ? "" : "s", fault.words));
  }
  if (log.lines_lost > 0) {
    out.remarks.push_back(fmt::format("{} lines have too few columns", log.lines_lost));
  }
  return out;
}

}  // namespace unstarve::examine
