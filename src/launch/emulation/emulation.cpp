#include "launch/emulation/emulation.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/io/write.h"
#include "emulated/duration/duration_table.h"
#include "emulated/profile/profile.h"
#include "observe/durations/device_profile.h"
#include "observe/durations/record_durations.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
constexpr std::string_view kEmulatedPrefix = "Emulated ";
// By which a profile's file is told from a trace: it comes early, and a trace may be of any size.
constexpr std::string_view kProfileMark = "unstarve-gpu-profile";
constexpr std::size_t kLookedAtBytes = 4096;

/// What the settings and our first line are made of.
struct Chosen {
  nlohmann::json profile;
  std::string device_name;
  emulated::Profile parsed;
  nlohmann::json priced = nlohmann::json::array();
  std::optional<observe::RecordedDurations> recorded;
};

/// Whether what the user named is a file, and no profile's.
bool is_trace(const std::string& name) {
  std::error_code none;
  if (!fs::is_regular_file(name, none)) return false;
  std::string begin(kLookedAtBytes, '\0');
  std::ifstream file(name, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find(kProfileMark) == std::string::npos;
}

/// The profile's document: of the name or file, or of the GPU that the trace was recorded on.
Result<std::string> profile_document(const EmulationOptions& options, const Chosen& chosen) {
  if (!is_trace(options.gpu)) return emulated::find_profile_document(options.gpu);
  if (chosen.recorded->device) return observe::device_profile(*chosen.recorded->device);
  return fail(ErrorCode::kNotSupported,
              "{} does not say which GPU it was recorded on; name one, and the trace by "
              "--durations",
              options.gpu);
}

Result<Chosen> choose(const EmulationOptions& options) {
  Chosen chosen;
  const std::string trace = is_trace(options.gpu) ? options.gpu : options.durations;
  if (!trace.empty()) {
    auto recorded = observe::record_durations(trace);
    if (!recorded) return forward_error(recorded);
    chosen.recorded = *std::move(recorded);
  }
  const auto document = profile_document(options, chosen);
  if (!document) return forward_error(document);
  const auto profile = emulated::parse_profile(*document);
  if (!profile) return forward_error(profile);
  chosen.profile = nlohmann::json::parse(*document, nullptr, false);
  if (options.memory_gib > 0) {
    chosen.profile["architecture"]["total_memory_bytes"] =
        static_cast<std::int64_t>(options.memory_gib * kBytesPerGib);
  }
  chosen.parsed = *profile;
  for (const std::string& kind : options.priced) {
    const auto priced = emulated::find_profile_document(kind);
    if (!priced) return forward_error(priced);
    chosen.priced.push_back(nlohmann::json::parse(*priced, nullptr, false));
  }
  chosen.device_name = profile->device_name;
  if (chosen.device_name.starts_with(kEmulatedPrefix)) {
    chosen.device_name.erase(0, kEmulatedPrefix.size());
  }
  return chosen;
}

/// Where durations come from, for the first line.
std::string describe_durations(const Chosen& chosen, const EmulationOptions& options) {
  std::string text = "by a roofline of its data sheet";
  if (chosen.recorded) {
    text = fmt::format(
        "those of {} kernels and {} products and convolutions in {}, all else by a "
        "roofline",
        chosen.recorded->kernels, chosen.recorded->operations, chosen.recorded->recording.source);
    if (chosen.recorded->shapeless_operations > 0) {
      text += fmt::format(
          ", as are {} products and convolutions that were recorded without shapes "
          "(record_shapes=True)",
          chosen.recorded->shapeless_operations);
    }
  }
  if (options.scale != 1) text += fmt::format(", times {:g}", options.scale);
  if (options.step_time_s > 0) {
    text +=
        fmt::format(", times a factor that is looked for in the first steps: one is to take {:g} s",
                    options.step_time_s);
  }
  return text;
}

/// Writes what the job's processes read into the state's folder.
Status write_settings(const Chosen& chosen, const EmulationOptions& options,
                      const std::string& state, const std::string& file) {
  std::string table;
  if (chosen.recorded) {
    table = state + "/durations";
    const std::string text = emulated::format_recording(chosen.recorded->recording);
    if (Status written = io::replace_file(table, text); !written) return written;
  }
  const nlohmann::json document = {
      {"gpus", options.gpus},   {"profile", chosen.profile},          {"durations", table},
      {"scale", options.scale}, {"step_time_s", options.step_time_s}, {"priced", chosen.priced},
      {"state", state},         {"true_every", options.true_every}};
  return io::replace_file(
      file, document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// `library`, then whatever the job has in that variable already.
std::string before_theirs(const std::string& library, const char* variable) {
  const char* theirs = std::getenv(variable);
  if (theirs == nullptr || *theirs == '\0') return library;
  return library + ":" + theirs;
}

}  // namespace

Result<Emulation> Emulation::prepare(const Installation& parts, const EmulationOptions& options) {
  const fs::path libraries = parts.emulated_libraries;
  const fs::path redirect = libraries / "libunstarve_redirect.so";
  std::error_code none;
  if (libraries.empty() || !fs::exists(redirect, none)) {
    return fail(ErrorCode::kNotFound,
                "the emulated CUDA libraries are not installed beside this program; install "
                "unstarve anew: pip install .");
  }
  if (redirect.string().find(':') != std::string::npos) {
    return fail(ErrorCode::kNotSupported,
                "unstarve lies in {}, which has a colon in it: LD_AUDIT cannot name it there",
                libraries.string());
  }
  const auto chosen = choose(options);
  if (!chosen) return forward_error(chosen);
  auto state = StateFolder::create();
  if (!state) return forward_error(state);

  Emulation made(*std::move(state));
  const std::string& folder = made.state_.path();
  made.settings_file_ = folder + "/settings.json";
  const Status written = write_settings(*chosen, options, folder, made.settings_file_);
  if (!written) return forward_error(written);
  fs::create_directory(folder + "/rings", none);
  made.environment_ = {
      {"UNSTARVE_EMULATED_GPU", made.settings_file_},
      {"UNSTARVE_EMULATED_LOG", made.log_file()},
      {"LD_AUDIT", before_theirs(redirect.string(), "LD_AUDIT")},
      {"TRITON_LIBCUDA_PATH", libraries.string()},
  };
  made.gpus_ = options.gpus;
  const bool by_factor = options.scale != 1 || options.step_time_s > 0;
  made.durations_from_ = by_factor ? "factor" : chosen->recorded ? "recording" : "roofline";
  made.scale_ = options.scale;
  made.step_time_s_ = options.step_time_s;
  made.profile_ = chosen->parsed;
  made.durations_recorded_ = chosen->recorded.has_value();
  made.devices_ = fmt::format("{} x {}", options.gpus, chosen->device_name);
  made.durations_ = describe_durations(*chosen, options);
  return made;
}

}  // namespace unstarve::launch
