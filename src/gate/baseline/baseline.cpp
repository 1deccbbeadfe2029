#include "gate/baseline/baseline.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "trace/json/json_text.h"

namespace unstarve::gate {

namespace {

using Document = nlohmann::ordered_json;
using compare::MeasuredRun;
using diagnose::Signals;

constexpr const char* kSchema = "unstarve.baseline/1";
constexpr std::uintmax_t kBytesMax = 4U << 20;

/// Signals by which a comparison says why something moved.
const std::vector<std::string_view>& kept_signals() {
  static const std::vector<std::string_view> kKept = {
      "num_workers",       "startup_wait_ratio",  "neighbour_cores",
      "launches_per_step", "syncs_per_step",      "float_product_ratio",
      "pageable_ratio",    "memory_kernel_ratio", "h2d_bytes_per_step"};
  return kKept;
}

Document code_json(const diagnose::CodeTime& code) {
  Document parts = Document::array();
  for (const diagnose::CodeShare& part : code.parts) {
    parts.push_back(
        {{"place", part.place}, {"call", part.call}, {"what", part.what}, {"share", part.share}});
  }
  return parts;
}

diagnose::CodeTime code_from(const nlohmann::json& parts) {
  diagnose::CodeTime code;
  if (!parts.is_array()) return code;
  for (const nlohmann::json& part : parts) {
    if (!part.is_object()) continue;
    diagnose::CodeShare share;
    share.place = part.value("place", std::string());
    share.call = part.value("call", std::string());
    share.what = part.value("what", std::string());
    share.share = part.value("share", 0.0);
    code.parts.push_back(std::move(share));
  }
  return code;
}

Document run_json(const MeasuredRun& run) {
  Document sums = Document::object();
  const compare::StepBlock all = compare::sum_of(run.blocks);
  for (std::size_t i = 0; i < compare::kAmountCount; ++i) {
    const auto amount = static_cast<compare::Amount>(i);
    if (all.of(amount) != 0) sums[std::string(compare::to_string(amount))] = all.of(amount);
  }
  Document signals = Document::object();
  for (const diagnose::SignalField& field : diagnose::signal_fields()) {
    const auto& kept = kept_signals();
    const bool is_kept = std::find(kept.begin(), kept.end(), field.name) != kept.end();
    const Reading<double>& value = run.signals.*field.signal;
    if (is_kept && value) signals[std::string(field.name)] = *value;
  }
  return {{"sums", std::move(sums)},
          {"whole", run.whole},
          {"parts", run.parts},
          {"parts_of_gpu", run.parts_of_gpu},
          {"emulated", run.emulated},
          {"signals", std::move(signals)},
          {"own_code", code_json(run.own_code)},
          {"fetch_code", code_json(run.fetch_code)},
          {"sync_code", code_json(run.sync_code)}};
}

/// The numbers of an object by their names; what is none is left out.
std::map<std::string, double> numbers_in(const nlohmann::json& object) {
  std::map<std::string, double> numbers;
  if (!object.is_object()) return numbers;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) numbers[name] = value.get<double>();
  }
  return numbers;
}

MeasuredRun run_from(const nlohmann::json& document) {
  MeasuredRun run;
  const auto member = [&](const char* name) {
    return document.contains(name) ? document[name] : nlohmann::json();
  };
  compare::StepBlock sums;
  const std::map<std::string, double> amounts = numbers_in(member("sums"));
  for (std::size_t i = 0; i < compare::kAmountCount; ++i) {
    const auto amount = static_cast<compare::Amount>(i);
    const auto found = amounts.find(std::string(compare::to_string(amount)));
    if (found != amounts.end()) sums.of(amount) = found->second;
  }
  run.blocks = {sums};
  run.whole = numbers_in(member("whole"));
  run.parts = numbers_in(member("parts"));
  run.parts_of_gpu = member("parts_of_gpu") == true;
  run.emulated = member("emulated") == true;
  const std::map<std::string, double> signals = numbers_in(member("signals"));
  for (const diagnose::SignalField& field : diagnose::signal_fields()) {
    const auto found = signals.find(std::string(field.name));
    if (found != signals.end()) run.signals.*field.signal = found->second;
  }
  run.own_code = code_from(member("own_code"));
  run.fetch_code = code_from(member("fetch_code"));
  run.sync_code = code_from(member("sync_code"));
  return run;
}

Document settings_json(const compare::RunSettings& settings) {
  Document list = Document::array();
  for (const compare::Setting& setting : settings.settings) {
    list.push_back({{"group", std::string(compare::to_string(setting.group))},
                    {"name", setting.name},
                    {"value", setting.value}});
    if (setting.amount > 0) list.back()["amount"] = setting.amount;
  }
  return list;
}

compare::RunSettings settings_from(const nlohmann::json& list) {
  compare::RunSettings settings;
  if (!list.is_array()) return settings;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object()) continue;
    const std::string group = entry.value("group", std::string());
    for (const auto known : compare::kAllSettingGroups) {
      if (compare::to_string(known) != group) continue;
      settings.settings.push_back({known, entry.value("name", std::string()),
                                   entry.value("value", std::string()),
                                   entry.value("amount", 0.0)});
    }
  }
  return settings;
}

Result<Baseline> understand(const nlohmann::json& document, const std::string& path) {
  Baseline baseline;
  baseline.side.name = std::filesystem::path(path).filename().string();
  baseline.emulated_gpu = document.value("emulated_gpu", std::string());
  const compare::RunSettings settings =
      settings_from(document.value("settings", nlohmann::json::array()));
  for (const nlohmann::json& entry : document.value("runs", nlohmann::json::array())) {
    if (!entry.is_object()) continue;
    MeasuredRun run = run_from(entry);
    run.name = baseline.side.name;
    run.path = path;
    run.settings = settings;
    baseline.side.runs.push_back(std::move(run));
  }
  for (const nlohmann::json& entry : document.value("accepted", nlohmann::json::array())) {
    if (!entry.is_object()) continue;
    baseline.acceptances.push_back({entry.value("when", std::string()),
                                    entry.value("reason", std::string()),
                                    entry.value("step_us", 0.0)});
  }
  if (baseline.side.runs.empty()) {
    return fail(ErrorCode::kCorruptData, "{} holds no run: make it anew with --accept", path);
  }
  return baseline;
}

}  // namespace

std::string baseline_json(const Baseline& baseline) {
  Document runs = Document::array();
  for (const MeasuredRun& run : baseline.side.runs) runs.push_back(run_json(run));
  Document accepted = Document::array();
  for (const Acceptance& one : baseline.acceptances) {
    accepted.push_back({{"when", one.when}, {"reason", one.reason}, {"step_us", one.step_us}});
  }
  const Document document = {{"schema", kSchema},
                             {"accepted", std::move(accepted)},
                             {"emulated_gpu", baseline.emulated_gpu},
                             {"settings", settings_json(baseline.side.first().settings)},
                             {"runs", std::move(runs)}};
  return document.dump(1, ' ', false, Document::error_handler_t::replace) + "\n";
}

bool is_baseline(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::is_regular_file(path, unreadable);
}

Result<Baseline> read_baseline(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) {
    return fail(ErrorCode::kNotFound, "there is no baseline {}", path);
  }
  if (std::filesystem::file_size(path, unreadable) > kBytesMax) {
    return fail(ErrorCode::kCorruptData, "{} is no baseline: it is too large for one", path);
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const nlohmann::json document = trace::parse_json(text);
  const std::string schema =
      document.is_object() && document.contains("schema") && document["schema"].is_string()
          ? document["schema"].get<std::string>()
          : std::string();
  if (schema != kSchema) {
    return fail(ErrorCode::kCorruptData, "{} is no baseline that this version reads ('{}' is)",
                path, kSchema);
  }
  try {
    return understand(document, path);
  } catch (const nlohmann::json::exception& wrong) {  // a member of another type
    return fail(ErrorCode::kCorruptData, "{} is damaged: {}", path, wrong.what());
  }
}

}  // namespace unstarve::gate
