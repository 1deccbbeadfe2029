#include "report/live/live_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/number_words.h"
#include "report/text/curve.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

constexpr int kNameWidth = 8;
constexpr int kBarWidth = 40;

std::string gpu_words(const LiveJob& job) {
  double sum = 0;
  double count = 0;
  for (const LiveGpu& gpu : job.gpus) {
    if (!gpu.utilization) continue;
    sum += *gpu.utilization;
    ++count;
  }
  if (count == 0) return {};
  return fmt::format("{}GPU{} busy {}", job.emulated ? "emulated " : "", count > 1 ? "s" : "",
                     percent_text(sum / count));
}

Tone tone_of(LiveState state) {
  switch (state) {
    case LiveState::kTraining: return Tone::kGood;
    case LiveState::kQuiet: return Tone::kBad;
    default: return Tone::kFaint;
  }
}

/// "runs/a   training   12 min 3 s   python train.py": the command takes what is left.
std::string title(const LiveJob& job, const TextOptions& options) {
  const std::string state(to_string(job.state));
  const std::string elapsed = seconds_text(job.elapsed_s);
  const int behind = display_width(state) + display_width(elapsed) + 4;
  const std::string name = clip(printable(job.run_dir, options),
                                std::min(options.width / 2, options.width - behind), options);
  const int left = options.width - display_width(name) - behind - 2;
  std::string line = paint(name, Tone::kStrong, options) + "  " +
                     paint(state, tone_of(job.state), options) + "  " + elapsed;
  constexpr int kLeastCommand = 10;
  if (left >= kLeastCommand) {
    line +=
        "  " + paint(clip(printable(job.command, options), left, options), Tone::kFaint, options);
  }
  return line;
}

/// The parts of the training threads' time, side by side; their names stand below where the line
/// is too short.
std::vector<std::string> bar(const LiveJob& job, const TextOptions& options) {
  const double waiting = *job.waiting;
  const double blocked = job.blocked.value_or(0);
  const std::array<double, 3> shares = {waiting, blocked, std::max(0.0, 1 - waiting - blocked)};
  const int width = std::min(kBarWidth, options.width / 3);
  const std::vector<int> columns = apportion(shares, width);
  // The same letters tell the parts apart where there is no colour.
  const std::array<const char*, 3> glyphs = options.unicode
                                                ? std::array<const char*, 3>{"█", "▒", "░"}
                                                : std::array<const char*, 3>{"#", "=", "."};
  const std::array<Tone, 3> tones = {Tone::kStarved, Tone::kHeldUp, Tone::kBusy};
  std::string text;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    text += paint(repeat(glyphs[i], columns[i]), tones[i], options);
  }
  const std::string words = fmt::format("{} waits for data {}  {} GPU {}  {} own work {}",
                                        glyphs[0], percent_text(waiting), glyphs[1],
                                        percent_text(blocked), glyphs[2], percent_text(shares[2]));
  std::vector<std::string> lines = {pad_right("step", kNameWidth) + text};
  if (display_width(words) <= options.width - kNameWidth - width - 2) {
    lines.front() += "  " + words;
    return lines;
  }
  for (const std::string& line : wrap(words, options.width - kNameWidth)) {
    lines.push_back(std::string(kNameWidth, ' ') + line);
  }
  return lines;
}

/// A name, a curve and words behind it.
std::string curve_line(const std::string& name, const std::vector<double>& values,
                       const std::string& words, Tone tone, const TextOptions& options) {
  const int room =
      std::max(10, options.width - kNameWidth - 2 - std::max(24, display_width(words)));
  const auto shown = std::min(values.size(), static_cast<std::size_t>(room));
  const std::span<const double> last(values.data() + values.size() - shown, shown);
  std::string curve = shown == 0 ? std::string() : render_curve(last, 1, options).front();
  return pad_right(name, kNameWidth) + paint(pad_left(curve, room), tone, options) + "  " +
         clip(words, options.width - kNameWidth - room - 2, options);
}

std::string gpu_numbers(const LiveGpu& gpu) {
  std::string words = gpu.utilization ? percent_cell(*gpu.utilization) : "not read";
  if (gpu.memory_bytes) words += "  " + bytes_text(*gpu.memory_bytes);
  if (gpu.power_w) words += fmt::format("  {:.0f} W", *gpu.power_w);
  return words;
}

std::string cpu_numbers(const LiveJob& job) {
  if (!job.cpu_cores) return "not read";
  std::string words = fmt::format("{:.1f}", *job.cpu_cores);
  if (job.cores_allowed) words += fmt::format(" of {:.3g}", *job.cores_allowed);
  words += " cores";
  if (job.resident_bytes) words += "  " + bytes_text(*job.resident_bytes);
  return words;
}

std::vector<std::string> job_lines(const LiveJob& job, const TextOptions& options) {
  std::vector<std::string> lines = {title(job, options)};
  for (std::string& line : wrap(live_sentence(job), options.width - kNameWidth)) {
    lines.push_back(std::string(kNameWidth, ' ') + std::move(line));
  }
  if (job.waiting) {
    for (std::string& line : bar(job, options)) lines.push_back(std::move(line));
  }
  for (const LiveGpu& gpu : job.gpus) {
    lines.push_back(curve_line(fmt::format("GPU {}", gpu.index), gpu.curve, gpu_numbers(gpu),
                               Tone::kBusy, options));
  }
  if (job.waiting) {
    lines.push_back(curve_line("waits", job.waiting_curve, percent_cell(*job.waiting),
                               Tone::kStarved, options));
  }
  lines.push_back(curve_line("CPU", job.cpu_curve, cpu_numbers(job), Tone::kPlain, options));
  return lines;
}

}  // namespace

std::string_view to_string(LiveState state) {
  switch (state) {
    case LiveState::kStarting: return "starting";
    case LiveState::kTraining: return "training";
    case LiveState::kLoading: return "loading";
    case LiveState::kCheckpoint: return "checkpoint";
    case LiveState::kQuiet: return "quiet";
    case LiveState::kEnded: return "ended";
  }
  return "";
}

std::string live_sentence(const LiveJob& job) {
  switch (job.state) {
    case LiveState::kStarting: return "no step so far";
    case LiveState::kQuiet:
      return fmt::format("nothing for {}, after {} steps: no step, no batch, no checkpoint",
                         seconds_text(job.quiet_s), job.steps);
    case LiveState::kLoading:
      return fmt::format(
          "batches come and no step ends, after {} steps: it evaluates or reads "
          "ahead",
          job.steps);
    case LiveState::kCheckpoint: return fmt::format("saves or compiles, after {} steps", job.steps);
    case LiveState::kEnded: return fmt::format("has ended, after {} steps", job.steps);
    case LiveState::kTraining: break;
  }
  constexpr double kHardly = 0.05;
  std::vector<std::string> parts;
  if (job.waiting) {
    parts.push_back(fmt::format("{} {}",
                                *job.waiting < kHardly ? "hardly waits for data" : "waits for data",
                                percent_text(*job.waiting)));
  }
  if (std::string gpu = gpu_words(job); !gpu.empty()) parts.push_back(std::move(gpu));
  if (job.step_s) parts.push_back(seconds_text(*job.step_s) + " a step");
  if (job.samples_per_s) parts.push_back(number_text(*job.samples_per_s) + " samples/s");
  parts.push_back(fmt::format("{} steps", job.steps));
  if (job.ranks > 1) parts.push_back(fmt::format("{} ranks", job.ranks));
  std::string sentence;
  for (const std::string& part : parts) sentence += (sentence.empty() ? "" : ", ") + part;
  return sentence;
}

std::vector<std::string> render_jobs(std::span<const LiveJob> jobs, const TextOptions& options,
                                     int lines) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<std::string> of_job = job_lines(jobs[i], options);
    if (i > 0) of_job.insert(of_job.begin(), "");
    const auto room = static_cast<std::size_t>(std::max(lines, 0));
    const bool is_last = i + 1 == jobs.size();
    if (lines > 0 && all.size() + of_job.size() + (is_last ? 0 : 1) > room) {
      if (all.empty()) {
        of_job.resize(std::min(of_job.size(), room));
        return of_job;
      }
      all.push_back(fmt::format("and {} more", jobs.size() - i));
      return all;
    }
    all.insert(all.end(), std::make_move_iterator(of_job.begin()),
               std::make_move_iterator(of_job.end()));
  }
  return all;
}

namespace {

/// "4711  ada  38.0 GB  python train.py", below the GPU's line.
std::string process_line(const GpuProcess& process, const TextOptions& options) {
  std::string text = std::to_string(process.pid);
  if (!process.user.empty()) text += "  " + process.user;
  if (process.memory_bytes) text += "  " + bytes_text(*process.memory_bytes);
  if (!process.command.empty()) text += "  " + process.command;
  return std::string(kNameWidth, ' ') +
         clip(printable(text, options), options.width - kNameWidth, options);
}

}  // namespace

std::vector<std::string> render_other_gpus(std::span<const OtherGpu> gpus,
                                           const TextOptions& options) {
  std::vector<std::string> lines;
  if (gpus.empty()) return lines;
  lines.push_back(
      paint(clip("GPUs that no watched job has", options.width, options), Tone::kStrong, options));
  for (const OtherGpu& one : gpus) {
    std::string words = gpu_numbers(one.gpu);
    if (one.processes) {
      words += fmt::format("  {} process{}", *one.processes, *one.processes == 1 ? "" : "es");
    }
    lines.push_back(curve_line(fmt::format("GPU {}", one.gpu.index), one.gpu.curve, words,
                               Tone::kBusy, options));
    constexpr std::size_t kMostNamed = 3;
    for (std::size_t i = 0; i < std::min(one.process_list.size(), kMostNamed); ++i) {
      lines.push_back(process_line(one.process_list[i], options));
    }
  }
  return lines;
}

}  // namespace unstarve::report
