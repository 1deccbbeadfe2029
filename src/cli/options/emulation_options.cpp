#include "cli/options/emulation_options.h"

#include <algorithm>
#include <cstdlib>

#include "base/units.h"
#include "cli/console/terminal.h"
#include "launch/emulation/program_check.h"
#include "launch/emulation/roofline_range.h"
#include "launch/installation.h"

namespace unstarve::cli {

namespace {

constexpr double kMostMemoryGib = 4096;
constexpr double kSmallestScale = 0.001;
constexpr double kLargestScale = 1000;
constexpr double kMostTrueEvery = 1e9;
constexpr double kShortestStepS = 1e-5;
constexpr double kLongestStepS = 3'600;

/// "6.4 to 7.8 s on a real GPU, as half of 27 published figures have it (all: 4.73 to 11.2 s)".
std::string real_busy(double recorded_s, double modelled_s) {
  constexpr launch::RooflineRange kRange = launch::kRooflineRange;
  const auto real_s = [&](double ratio) { return recorded_s + modelled_s * ratio; };
  return fmt::format(
      "{:.3g} to {:.3g} s on a real GPU, as half of {} published figures have it (all: {:.3g} to "
      "{:.3g} s)",
      real_s(kRange.half_low), real_s(kRange.half_high), kRange.figures, real_s(kRange.all_low),
      real_s(kRange.all_high));
}

/// "the emulated GPU: 1234 kernels, 56 copies; busy for 6.95 of 12.3 s (56.5 %) from the first work
/// to the last; durations: 100.0 % by roofline: 6.4 to 7.8 s on a real GPU, ...". Kernels that
/// shared the GPU count as if alone. `with_range`: what stands behind "roofline".
std::string describe(const launch::EmulationUse& use, bool with_range) {
  const double span_s = static_cast<double>(use.span_ns) * kSecondsPerNs;
  const double kernel_s = static_cast<double>(use.kernel_ns) * kSecondsPerNs;
  const double busy_s = std::min(kernel_s, span_s);
  const double recorded_s = static_cast<double>(use.recorded_kernel_ns) * kSecondsPerNs;
  const double recorded_percent = kernel_s > 0 ? 100 * recorded_s / kernel_s : 0;
  const std::string gpus = use.gpus_used == 1
                               ? "the emulated GPU"
                               : fmt::format("{} emulated GPUs together", use.gpus_used);
  std::string text = fmt::format(
      "{}: {} kernels, {} copies; busy for {:.3g} of {:.3g} s ({:.1f} %) from the first work to "
      "the last; durations: ",
      gpus, use.kernels, use.copies, busy_s, span_s, span_s > 0 ? 100 * busy_s / span_s : 0);
  if (recorded_percent > 0) text += fmt::format("{:.1f} % recorded, ", recorded_percent);
  text += fmt::format("{:.1f} % by roofline", 100 - recorded_percent);
  if (!with_range) return text;
  return text + ": " + real_busy(recorded_s, kernel_s - recorded_s);
}

}  // namespace

std::string emulated_by_default() {
  const char* named = std::getenv(kEmulateVariable);
  return named == nullptr ? std::string() : named;
}

void add_emulation_options(Command& command, launch::EmulationOptions& options) {
  command.option("--gpus", options.gpus, "how many GPUs are emulated")
      .between(1, kMostGpus)
      .shows_default();
  command.option("--memory", options.memory_gib, "GiB of each emulated GPU (default: its own)")
      .between(0, kMostMemoryGib);
  command.option("--durations", options.durations,
                 "a profiler's trace of a job on a real GPU, whose durations are used");
  command
      .option("--true-every", options.true_every,
              "of the bools that the job reads from the GPU, each N-th is true (default: "
              "none): a loop that asks after each token whether it is done makes so many")
      .between(0, kMostTrueEvery);
  Option scale =
      command.option("--scale", options.scale, "stretches every modelled duration by this factor");
  scale.between(kSmallestScale, kLargestScale);
  command
      .option("--step-time", options.step_time_s,
              "seconds that a step takes on the real GPU: the factor of durations by which it "
              "does so here is found in the job's first steps")
      .between(kShortestStepS, kLongestStepS)
      .excludes(scale);
}

Result<launch::Emulation> begin_emulation(const CommandContext& context,
                                          const launch::EmulationOptions& options,
                                          const std::vector<std::string>& command) {
  auto emulation =
      launch::Emulation::prepare(launch::find_installation(context.executable), options);
  if (!emulation) return emulation;
  say(
      fmt::format("emulating {}: nothing is computed and results are zeros, so a loop that waits "
                  "for a value may never end; durations are {}",
                  emulation->devices(), emulation->durations()));
  const std::string lacking = launch::why_not_emulated(command);
  if (!lacking.empty()) say(lacking);
  return emulation;
}

void EmulationNotes::update(std::optional<std::int64_t> progress) {
  const launch::EmulationUse use = counted_.read();
  say_step(use);
  switch (loop_.notices(use, clock_.now_ns(), progress)) {
    case launch::Loop::kOnlyReads:
      return say(
          "note: for ten seconds the job has done little but read single values; if it waits for "
          "one of them to change, it never ends, for all are zeros (--true-every N)");
    case launch::Loop::kNoProgress:
      return say(
          fmt::format("note: for a minute the job has made no step and taken no batch, but read {} "
                      "single values in all and launched {} kernels; if it waits for a value, as "
                      "generate() does, it never ends, for all are zeros: with --true-every 128 "
                      "each 128th bool that it reads is true",
                      use.small_reads, use.kernels));
    case launch::Loop::kNone: return;
  }
}

void EmulationNotes::say_step(const launch::EmulationUse& use) {
  if (step_said_ || !use.step || emulation_.step_time_s() <= 0) return;
  step_said_ = true;
  say(fmt::format(
      "a step of {} kernels was seen {} times and takes {:.4g} s by its durations; from then on "
      "they are times {:.4g}, so that it takes {:g} s",
      use.step->kernels, use.step->seen, use.step->modelled_s, use.step->factor,
      emulation_.step_time_s()));
}

void EmulationNotes::finish() {
  const launch::EmulationUse use = counted_.read();
  for (const launch::MissingFunction& missing : counted_.missing()) {
    say(fmt::format("the job called {} ({}), which is not emulated", missing.function,
                    missing.library));
  }
  say_step(use);
  if (emulation_.step_time_s() > 0 && !use.step && use.gpus_used > 0) {
    say(fmt::format(
        "no step was found that repeats and takes {:g} s by a factor of at most 2 either way: "
        "durations stayed as they were; --scale gives a factor",
        emulation_.step_time_s()));
  }
  if (use.gpus_used == 0) {
    say("the job never used a GPU");
    return;
  }
  const bool by_factor = emulation_.scale() != 1 || use.step.has_value();
  const bool with_range = range_ == Range::kSaid && !by_factor;
  say(describe(use, with_range) + (by_factor ? ", times the factor" : ""));
}

}  // namespace unstarve::cli
