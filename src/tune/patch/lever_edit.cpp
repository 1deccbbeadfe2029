#include "tune/patch/lever_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tune/levers/argument.h"
#include "tune/levers/class_argument.h"

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

// Arguments that the constructors of these take by their places before those that are asked for.
constexpr std::size_t kLoaderByPlace = 5;       // num_workers is the sixth
constexpr std::size_t kTrainingByPlace = 1;     // output_dir
constexpr std::size_t kOptimizerByPlace = 100;  // fused has no place

constexpr std::string_view kLoader = "DataLoader";
constexpr std::array<std::string_view, 3> kFusedOptimizers = {"Adam", "AdamW", "SGD"};

/// Lines of one lever; the script must not say any of `words` itself, which might undo them.
struct Lines {
  std::string_view lever;
  std::vector<std::string> lines;  // {} stands for the lever's count
  std::vector<std::string_view> words;
};

std::string sdp_off(std::string_view name) {
  return fmt::format("torch.backends.cuda.enable_{}_sdp(False)", name);
}

std::vector<Lines> known_lines(const TrialResult& job) {
  const std::vector<std::string_view> sdp = {"_sdp(", "sdpa_kernel", "sdp_kernel"};
  const std::vector<std::string_view> products = {"set_float32_matmul_precision", "allow_tf32",
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

std::optional<LeverEdit> lines_edit(const Lever& lever, const std::string& code,
                                    const TrialResult& job) {
  const std::vector<Lines> known = known_lines(job);
  const auto found = std::find_if(known.begin(), known.end(), [&lever](const Lines& entry) {
    return entry.lever == lever.hook;
  });
  if (found == known.end() || !find_import_of_torch(code)) return std::nullopt;
  const bool is_said =
      std::any_of(found->words.begin(), found->words.end(),
                  [&code](std::string_view word) { return code.find(word) != std::string::npos; });
  if (is_said) return std::nullopt;
  LeverEdit edit;
  for (const std::string& line : found->lines) {
    const bool counts = line.find("{}") != std::string::npos;
    const auto count = counts ? count_of(lever) : 0;
    if (!count) return std::nullopt;
    edit.lines.push_back(counts ? fmt::format(fmt::runtime(line), *count) : line);
  }
  return edit;
}

std::string_view last_name(std::string_view callee) {
  return callee.substr(callee.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\\()");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\\()") - begin + 1);
}

/// The name that one part of an import gives to something: `b` of `a as b`, `a` of `a` and `a.c`.
std::string_view name_given_by(std::string_view part) {
  const std::size_t as = part.find(" as ");
  return as != part.npos ? trimmed(part.substr(as + 4)) : part.substr(0, part.find('.'));
}

/// What the script's imports call `name`, each as Python would write it: "torch.optim.AdamW".
std::vector<std::string> imported_as(std::string_view name, const std::string& code) {
  constexpr std::string_view kImport = "import ";
  std::vector<std::string> found;
  for (std::size_t at = code.find(kImport); at != code.npos; at = code.find(kImport, at + 1)) {
    const std::size_t line = code.rfind('\n', at) + 1;  // npos + 1 is 0
    std::string_view before = trimmed(std::string_view(code).substr(line, at - line));
    before.remove_prefix(std::min(before.find_last_of(";:") + 1, before.size()));
    before = trimmed(before);
    const bool is_from = before.starts_with("from ");
    if (!is_from && !before.empty()) continue;
    const std::string module =
        is_from ? std::string(trimmed(before.substr(5))) + "." : std::string();
    std::string_view names = std::string_view(code).substr(at + kImport.size());
    const bool in_brackets = names.find_first_not_of(' ') == names.find('(');
    names = names.substr(0, in_brackets ? names.find(')') : names.find_first_of("\n;"));
    for (std::size_t from = 0; from <= names.size();) {
      const std::size_t end = std::min(names.find(',', from), names.size());
      const std::string_view part = trimmed(names.substr(from, end - from));
      if (name_given_by(part) == name || part == "*") {  // of what a star brings nobody can say
        found.push_back(module + std::string(part.substr(0, part.find(' '))));
      }
      from = end + 1;
    }
  }
  return found;
}

/// Whether a call is of torch's class: by its whole name, or by one that imports of torch's alone
/// give it.
bool is_of_torch(const trial::PythonCall& call, const std::string& code) {
  const std::string_view before =
      std::string_view(call.callee).substr(0, call.callee.size() - last_name(call.callee).size());
  if (before == "torch.optim.") return true;
  const bool is_class = before.empty();
  if (!is_class && before != "optim.") return false;
  const std::string_view name = is_class ? last_name(call.callee) : "optim";
  const std::string torchs =
      is_class ? fmt::format("torch.optim.{}", name) : std::string("torch.optim");
  const std::vector<std::string> imports = imported_as(name, code);
  return !imports.empty() &&
         std::all_of(imports.begin(), imports.end(),
                     [&torchs](const auto& imported) { return imported == torchs; });
}

std::optional<LeverEdit> fused_edit(const Script& script, const std::string& code,
                                    const TrialResult& job) {
  std::vector<trial::PythonCall> calls;
  for (const std::string_view kind : kFusedOptimizers) {
    for (trial::PythonCall& call : trial::calls_of(script.source, kind)) {
      if (last_name(call.callee) == kind) calls.push_back(std::move(call));
    }
  }
  const bool is_one = calls.size() == 1 && last_name(calls.front().callee) == job.optimizer;
  if (!is_one || !is_of_torch(calls.front(), code)) return std::nullopt;
  // torch takes none of these beside it.
  for (const trial::PythonArgument& argument : calls.front().arguments) {
    if (argument.name == "foreach" || argument.name == "differentiable") return std::nullopt;
  }
  return LeverEdit{{}, {{calls.front(), kOptimizerByPlace, {{"fused", "True"}}}}};
}

/// "train.py:41" as a file of the script's and a line.
std::optional<std::size_t> line_in(const std::string& place, const Script& script) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::size_t line = 0;
  const char* const end = place.data() + place.size();
  if (std::from_chars(place.data() + colon + 1, end, line).ptr != end) return std::nullopt;
  std::error_code none;
  const fs::path file = fs::absolute(place.substr(0, colon), none).lexically_normal();
  if (none || file != fs::path(script.path)) return std::nullopt;
  return line;
}

/// By how many arguments before it a loader takes one by its place.
std::optional<std::size_t> place_in_loader(std::string_view argument) {
  if (argument == "batch_size") return 1;
  if (argument == "num_workers") return kLoaderByPlace;
  return std::nullopt;
}

/// What the call gives, by its name or its place; null: it does not say.
const trial::PythonArgument* given_argument(const trial::PythonCall& call,
                                            const ClassArgument& wanted) {
  for (const trial::PythonArgument& argument : call.arguments) {
    if (argument.name == wanted.argument) return &argument;
  }
  const auto named =
      std::find_if(call.arguments.begin(), call.arguments.end(),
                   [](const trial::PythonArgument& argument) { return !argument.name.empty(); });
  const auto by_place = static_cast<std::size_t>(named - call.arguments.begin());
  const auto place = wanted.class_name == kLoader ? place_in_loader(wanted.argument) : std::nullopt;
  return place && *place < by_place ? &call.arguments[*place] : nullptr;
}

std::optional<CallEdit> argument_edit(const std::string& option, const std::string& value,
                                      const Script& script, const TrialResult& job) {
  const ClassArgument* const known = find_class_argument(option);
  const auto made = job.constructed.find(option);
  if (known == nullptr || made == job.constructed.end()) return std::nullopt;
  const auto line = line_in(made->second.place, script);
  if (!line || trial::calls_of(script.source, known->class_name).size() != 1) return std::nullopt;
  const auto call = trial::find_call(script.source, *line, known->class_name);
  if (!call) return std::nullopt;
  const std::size_t by_place = known->class_name == kLoader ? kLoaderByPlace : kTrainingByPlace;
  CallEdit edit = {*call, by_place, {}};
  if (const trial::PythonArgument* const given = given_argument(*call, *known)) {
    // What is written in other words may be another number for other loaders.
    const std::size_t length = given->value_end - given->value_begin;
    const std::string text = script.source.substr(given->value_begin, length);
    if (text != std::to_string(made->second.value)) return std::nullopt;
    edit.given[given->value_begin] = {length, value};
  } else {
    edit.values = {{std::string(known->argument), value}};
  }
  return edit;
}

}  // namespace

std::optional<std::size_t> find_import_of_torch(std::string_view source) {
  const std::string code = trial::code_alone(source);
  constexpr std::string_view kImport = "import ";
  for (std::size_t at = 0; at < code.size(); at = code.find('\n', at)) {
    at += code[at] == '\n';
    const std::string_view line = std::string_view(code).substr(at, trial::line_end(code, at) - at);
    if (!line.starts_with(kImport) || line.find_first_of(";\\") != std::string_view::npos) continue;
    for (std::size_t from = kImport.size(); from <= line.size();) {
      const std::size_t end = std::min(line.find(',', from), line.size());
      std::string_view name = line.substr(from, end - from);
      while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
      while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
      if (name == "torch") return at;
      from = end + 1;
    }
  }
  return std::nullopt;
}

std::optional<LeverEdit> edit_for(const Lever& lever, const Script& script,
                                  const TrialResult& job) {
  const std::string code = trial::code_alone(script.source);
  if (!lever.environment.empty()) return std::nullopt;
  LeverEdit edit;
  if (!lever.hook.empty()) {
    const auto of_hook = lever.hook == "fused_optimizer" ? fused_edit(script, code, job)
                                                         : lines_edit(lever, code, job);
    if (!of_hook) return std::nullopt;
    edit = *of_hook;
  }
  for (const auto& [option, value] : lever.arguments) {
    const auto call = argument_edit(option, value, script, job);
    if (!call) return std::nullopt;
    edit.calls.push_back(*call);
  }
  const bool can_be_written =
      std::all_of(edit.calls.begin(), edit.calls.end(), [&script](const CallEdit& call) {
        trial::Replacements unused;
        return trial::set_arguments(script.source, call.call, call.values, call.most_by_place,
                                    unused);
      });
  return can_be_written ? std::optional(edit) : std::nullopt;
}

}  // namespace unstarve::tune
