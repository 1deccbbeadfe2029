#include "cli/commands/emulation_options.h"

#include <cstdlib>

#include "cli/commands/numbers.h"
#include "cli/terminal.h"
#include "trial/emulation/program_check.h"
#include "trial/installation.h"

namespace unstarve::cli {

namespace {

constexpr int kMostGpus = 64;
constexpr double kMostMemoryGib = 4096;
constexpr double kSmallestScale = 0.001;
constexpr double kLargestScale = 1000;

void say(const std::string& text) { write_text(Stream::kErr, "unstarve: " + text + "\n"); }

}  // namespace

std::string emulated_by_default() {
  const char* named = std::getenv(kEmulateVariable);
  return named == nullptr ? std::string() : named;
}

void add_emulation_options(CLI::App& command, trial::EmulationOptions& options) {
  command.add_option("--gpus", options.gpus, "how many GPUs are emulated")
      ->check(CLI::Range(1, kMostGpus))
      ->capture_default_str();
  command.add_option("--memory", options.memory_gib, "GiB of each emulated GPU (default: its own)")
      ->check(number_between(0, kMostMemoryGib));
  command
      .add_option("--scale", options.scale,
                  "stretches every modelled duration by this factor, to meet a known step time")
      ->check(number_between(kSmallestScale, kLargestScale));
}

Result<trial::Emulation> begin_emulation(const CommandContext& context,
                                         const trial::EmulationOptions& options,
                                         const std::vector<std::string>& command) {
  auto emulation = trial::Emulation::prepare(trial::find_installation(context.executable), options);
  if (!emulation) return emulation;
  say(
      fmt::format("emulating {}: nothing is computed and results are zeros, so a loop that waits "
                  "for a value may never end; durations are {}",
                  emulation->devices(), emulation->durations()));
  const std::string lacking = trial::why_not_emulated(command);
  if (!lacking.empty()) say(lacking);
  return emulation;
}

void say_what_was_emulated(const trial::Emulation& /*emulation*/, double /*wall_s*/) {}

}  // namespace unstarve::cli
