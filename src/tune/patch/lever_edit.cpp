#include "tune/patch/lever_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "tune/levers/class_argument.h"

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

/// Lines of one lever; the script must not use a name that holds one of `unless`, which might undo
/// them.
struct Lines {
  std::string_view lever;
  std::vector<std::string> lines;  // {} stands for the lever's count
  std::vector<std::string> unless;
};

std::string sdp_off(std::string_view name) {
  return fmt::format("torch.backends.cuda.enable_{}_sdp(False)", name);
}

std::vector<Lines> known_lines(const TrialResult& job) {
  const std::vector<std::string> sdp = {"_sdp", "sdpa_kernel", "sdp_kernel"};
  const std::vector<std::string> products = {"set_float32_matmul_precision", "allow_tf32",
                                             "fp32_precision"};
  std::vector<Lines> known = {
      {"threads", {"torch.set_num_threads({})"}, {"set_num_threads"}},
      {"interop_threads", {"torch.set_num_interop_threads({})"}, {"set_num_interop_threads"}},
      {"matmul_precision",
       {fmt::format("torch.set_float32_matmul_precision(\"{}\")",
                    job.device == "cuda" ? "high" : "medium")},
       products},
      {"cudnn_benchmark", {"torch.backends.cudnn.benchmark = True"}, {"cudnn"}},
      {"sdpa_flash", {sdp_off("mem_efficient")}, sdp},
      {"sdpa_efficient", {sdp_off("flash")}, sdp},
      {"sdpa_math", {sdp_off("flash"), sdp_off("mem_efficient")}, sdp},
  };
  // Not every torch has cuDNN's attention to turn off.
  const auto cudnn = job.why_not.find("sdpa_cudnn");
  if (cudnn != job.why_not.end() && cudnn->second == "this torch has none") return known;
  for (Lines& entry : known) {
    if (entry.lever.starts_with("sdpa_")) entry.lines.push_back(sdp_off("cudnn"));
  }
  return known;
}

std::optional<std::int64_t> count_of(const Lever& lever) {
  const nlohmann::json settings = nlohmann::json::parse(lever.settings, nullptr, false);
  if (!settings.is_object()) return std::nullopt;
  const auto count = settings.find("count");
  if (count == settings.end() || !count->is_number_integer()) return std::nullopt;
  return count->get<std::int64_t>();
}

/// What the hook does for the lever, written down.
std::optional<script::ScriptEdit> hook_edit(const Lever& lever, const TrialResult& job) {
  script::ScriptEdit edit;
  if (lever.hook == "fused_optimizer") {
    edit.optimizer = job.optimizer;
    return edit.optimizer.empty() ? std::nullopt : std::optional(edit);
  }
  const std::vector<Lines> known = known_lines(job);
  const auto found = std::find_if(known.begin(), known.end(), [&lever](const Lines& entry) {
    return entry.lever == lever.hook;
  });
  if (found == known.end()) return std::nullopt;
  edit.unless = found->unless;
  for (const std::string& line : found->lines) {
    const bool counts = line.find("{}") != std::string::npos;
    const auto count = counts ? count_of(lever) : 0;
    if (!count) return std::nullopt;
    edit.lines.push_back(counts ? fmt::format(fmt::runtime(line), *count) : line);
  }
  return edit;
}

bool is_script(const std::string& file, const std::string& path) {
  std::error_code none;
  const fs::path whole = fs::absolute(file, none).lexically_normal();
  return !none && whole == fs::path(path);
}

/// Another value of a class's argument, at the call that was seen to construct it.
std::optional<script::CallEdit> argument_edit(const std::string& option, const std::string& value,
                                              const std::string& path, const TrialResult& job) {
  const ClassArgument* const known = find_class_argument(option);
  const auto made = job.constructed.find(option);
  if (known == nullptr || made == job.constructed.end()) return std::nullopt;
  const auto place = script::read_place(made->second.place);
  if (!place || !is_script(place->file, path)) return std::nullopt;
  const std::string name(known->argument);
  script::CallEdit call;
  call.class_name = known->class_name;
  call.line = place->line;
  call.arguments = {{name, value}};
  call.was = {{name, made->second.value}};
  return call;
}

}  // namespace

std::optional<script::ScriptEdit> edit_for(const Lever& lever, const std::string& path,
                                           const TrialResult& job) {
  if (!lever.environment.empty()) return std::nullopt;
  script::ScriptEdit edit;
  if (!lever.hook.empty()) {
    const auto of_hook = hook_edit(lever, job);
    if (!of_hook) return std::nullopt;
    edit = *of_hook;
  }
  for (const auto& [option, value] : lever.arguments) {
    const auto call = argument_edit(option, value, path, job);
    if (!call) return std::nullopt;
    edit.calls.push_back(*call);
  }
  return edit;
}

}  // namespace unstarve::tune
