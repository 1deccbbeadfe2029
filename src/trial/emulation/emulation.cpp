#include "trial/emulation/emulation.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "base/io/write.h"
#include "device/emulated/duration/duration_table.h"
#include "device/emulated/profile/profile.h"
#include "observe/durations/device_profile.h"
#include "observe/durations/record_durations.h"

namespace unstarve::trial {

namespace {

namespace fs = std::filesystem;

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
constexpr const char* kTableFile = "/durations.json";
constexpr std::string_view kEmulatedPrefix = "Emulated ";

/// What the settings and our first line are made of.
struct Chosen {
  nlohmann::json profile;
  std::string device_name;
  std::string table;      // of durations, as a file's text; empty: the roofline alone
  std::string durations;  // in words
};

/// A profile's document; or that of the GPU that a trace was recorded on, with its durations.
Result<std::string> choose_document(const std::string& gpu, Chosen& chosen) {
  auto document = emulated::find_profile_document(gpu);
  std::error_code none;
  if (document || !fs::is_regular_file(gpu, none)) return document;
  const auto traced = observe::record_durations(gpu);
  if (!traced) return forward_error(traced);
  chosen.table = emulated::format_recording(traced->recording);
  chosen.durations = fmt::format(
      "those of {} kernels and {} operations of libraries in {}{}; the rest is modelled",
      traced->kernels, traced->operations, gpu,
      traced->shapeless_operations == 0
          ? ""
          : ", which has operations without shapes (record_shapes=True)");
  return observe::device_profile(traced->device.value_or(observe::TracedDevice()));
}

Result<Chosen> choose(const EmulationOptions& options) {
  Chosen chosen;
  chosen.durations = "by a roofline of its data sheet, within some 20 %";
  auto document = choose_document(options.gpu, chosen);
  if (!document) return forward_error(document);
  chosen.profile = nlohmann::json::parse(*document, nullptr, false);
  const auto profile = emulated::parse_profile(*document);
  if (!profile) return forward_error(profile);
  if (options.memory_gib > 0) {
    chosen.profile["architecture"]["total_memory_bytes"] =
        static_cast<std::int64_t>(options.memory_gib * kBytesPerGib);
  }
  chosen.device_name = profile->device_name;
  if (chosen.device_name.starts_with(kEmulatedPrefix)) {
    chosen.device_name.erase(0, kEmulatedPrefix.size());
  }
  return chosen;
}

std::string settings(const Chosen& chosen, const EmulationOptions& options,
                     const std::string& state) {
  const std::string table = chosen.table.empty() ? "" : state + kTableFile;
  const nlohmann::json document = {{"gpus", options.gpus},
                                   {"profile", chosen.profile},
                                   {"durations", table},
                                   {"scale", options.scale},
                                   {"state", state}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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
  if (Status written = io::replace_file(made.settings_file_, settings(*chosen, options, folder));
      !written) {
    return forward_error(written);
  }
  if (!chosen->table.empty()) {
    if (Status written = io::replace_file(folder + kTableFile, chosen->table); !written) {
      return forward_error(written);
    }
  }
  fs::create_directory(folder + "/rings", none);
  made.environment_ = {
      {"UNSTARVE_EMULATED_GPU", made.settings_file_},
      {"UNSTARVE_EMULATED_LOG", made.log_file()},
      {"LD_AUDIT", before_theirs(redirect.string(), "LD_AUDIT")},
      {"TRITON_LIBCUDA_PATH", libraries.string()},
  };
  made.gpus_ = options.gpus;
  made.devices_ = fmt::format("{} x {}", options.gpus, chosen->device_name);
  made.durations_ = chosen->durations;
  return made;
}

}  // namespace unstarve::trial
