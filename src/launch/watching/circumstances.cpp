#include "launch/watching/circumstances.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "host/effective_cpus.h"
#include "host/procfs.h"
#include "launch/command_script.h"
#include "roofline/roofs/store/main_roofs.h"
#include "trace/text/secrets.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 16> kTellingPrefixes = {
    "CUDA_",   "NCCL_",        "OMP_",     "MKL_",       "OPENBLAS_", "KMP_",
    "GOMP_",   "TORCH",        "PYTORCH_", "TOKENIZERS", "CUBLAS_",   "CUDNN_",
    "MALLOC_", "HF_DATASETS_", "NUMEXPR_", "OPENCV_"};
constexpr std::array<std::string_view, 4> kTellingNames = {"LD_PRELOAD", "PYTHONHASHSEED",
                                                           "PYTHONMALLOC", "PYTHONOPTIMIZE"};

bool tells(std::string_view name) {
  return std::any_of(kTellingPrefixes.begin(), kTellingPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kTellingNames.begin(), kTellingNames.end(), name) != kTellingNames.end();
}

/// One that a user wrote is some kilobytes long.
constexpr std::uintmax_t kScriptBytesMax = 256U << 10;

nlohmann::json script_json(const std::vector<std::string>& command) {
  const std::string path = script_of(command);
  if (path.empty()) return nullptr;
  nlohmann::json script = {{"path", path}};
  std::error_code unreadable;
  if (!fs::is_regular_file(path, unreadable)) return script;
  if (fs::file_size(path, unreadable) > kScriptBytesMax || unreadable) return script;
  std::ifstream file(path, std::ios::binary);
  script["text"] = std::string(std::istreambuf_iterator<char>(file), {});
  return script;
}

nlohmann::json machine_json(const host::HostFiles& files) {
  nlohmann::json machine = nlohmann::json::object();
  if (const auto text = files.read("/proc/cpuinfo", host::kCpuinfoBytesMax)) {
    const std::string model = host::cpuinfo_value(*text, "model name");
    if (!model.empty()) machine["cpu"] = model;
  }
  if (const auto cpus = host::effective_cpus(files)) {
    machine["cores"] = fmt::format("{:.3g}", cpus->cores);
  }
  if (const auto text = files.read("/proc/meminfo")) {
    if (const auto memory = host::parse_memory_info(*text)) {
      constexpr double kGiB = 1U << 30;
      machine["memory_gib"] =
          fmt::format("{:.0f}", static_cast<double>(memory->total_bytes) / kGiB);
    }
  }
  utsname system{};
  if (::uname(&system) == 0) machine["kernel"] = system.release;
  return machine;
}

/// What `unstarve roofline` measured of this machine, if it did.
nlohmann::json roofs_json() {
  nlohmann::json roofs = nlohmann::json::object();
  for (const roofline::Roof& roof : roofline::kept_main_roofs()) {
    roofs[roof.name] = {
        {"value", roof.value}, {"unit", roof.unit}, {"measured_s", roof.measured_s}};
  }
  return roofs;
}

/// What Slurm says of the job that this is a part of.
nlohmann::json scheduler_json() {
  constexpr std::array<std::pair<const char*, const char*>, 4> kSlurm = {
      {{"SLURM_JOB_ID", "job"},
       {"SLURM_STEP_ID", "step"},
       {"SLURM_JOB_USER", "user"},
       {"SLURM_JOB_ACCOUNT", "account"}}};
  nlohmann::json scheduler = nlohmann::json::object();
  for (const auto& [variable, name] : kSlurm) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') scheduler[name] = value;
  }
  if (scheduler.contains("job")) scheduler["scheduler"] = "slurm";
  return scheduler;
}

/// Bytes that are no UTF-8 are replaced: a store of text is what readers expect.
std::string text_of(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> telling_variables(
    const std::vector<std::string>& block) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& entry : block) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || !tells(std::string_view(entry).substr(0, equals))) continue;
    if (trace::without_secrets({entry}).front() != entry) continue;
    variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

void note_circumstances(const std::vector<std::string>& command, const host::HostFiles& files,
                        trace::RunWriter& writer) {
  if (const nlohmann::json script = script_json(command); !script.is_null()) {
    writer.put("script", text_of(script));
  }
  std::vector<std::string> block;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    block.emplace_back(*entry);
  }
  nlohmann::json environment = nlohmann::json::object();
  for (const auto& [name, value] : telling_variables(block)) environment[name] = value;
  writer.put("environment", text_of(environment));
  writer.put("machine", text_of(machine_json(files)));
  if (const nlohmann::json roofs = roofs_json(); !roofs.empty())
    writer.put("roofs", text_of(roofs));
  const nlohmann::json scheduler = scheduler_json();
  if (scheduler.contains("job")) writer.put("scheduler", text_of(scheduler));
}

}  // namespace unstarve::launch
