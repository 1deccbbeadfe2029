#include "trace/job_gpu.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/json/json_text.h"
#include "trace/text/hook_text.h"

namespace unstarve::trace {

namespace {

/// torch writes a UUID without the driver's "GPU-".
std::string plain(std::string_view uuid) {
  if (uuid.substr(0, 4) == "GPU-") uuid.remove_prefix(4);
  std::string text(uuid);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Of each GPU of the machine.
std::vector<std::string> uuids_of(const RunReader& run) {
  std::vector<std::string> uuids;
  const nlohmann::json list = parse_json(run.info("gpu_uuids"));
  if (!list.is_array()) return uuids;
  for (const nlohmann::json& uuid : list) {
    uuids.push_back(uuid.is_string() ? uuid.get<std::string>() : "");
  }
  return uuids;
}

std::optional<std::int64_t> with_uuid(const std::vector<std::string>& uuids,
                                      const std::string& begins_with) {
  if (begins_with.empty()) return std::nullopt;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    if (plain(uuids[i]).compare(0, begins_with.size(), begins_with) == 0) {
      return static_cast<std::int64_t>(i);
    }
  }
  return std::nullopt;
}

/// The entry of a list with commas.
std::string_view entry_of(std::string_view list, std::int64_t number) {
  for (; number > 0; --number) {
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
  list = list.substr(0, list.find(','));
  while (!list.empty() && list.front() == ' ') list.remove_prefix(1);
  while (!list.empty() && list.back() == ' ') list.remove_suffix(1);
  return list;
}

std::string text_of(const std::vector<ProcessRecord>& processes, std::int64_t process) {
  for (const ProcessRecord& record : processes) {
    if (process != 0 && record.row.id.pid == process && !record.text.empty()) return record.text;
  }
  return text_of_training(processes);
}

}  // namespace

JobGpu job_gpu(const TrainingDevice& device, const std::vector<std::string>& uuids) {
  if (const auto found = with_uuid(uuids, plain(device.uuid))) return {*found};
  if (!device.visible) return {std::max<std::int64_t>(0, device.ordinal)};
  const std::string_view named = entry_of(*device.visible, device.ordinal);
  if (named.substr(0, 4) == "GPU-") {
    if (const auto found = with_uuid(uuids, plain(named))) return {*found};
  }
  std::int64_t index = 0;
  std::from_chars(named.data(), named.data() + named.size(), index);
  return {std::max<std::int64_t>(0, index)};
}

JobGpu job_gpu(const RunReader& run, std::int64_t process) {
  const auto processes = run.processes();
  if (!processes) return {};
  return job_gpu(parse_hook_text(text_of(*processes, process)).device, uuids_of(run));
}

}  // namespace unstarve::trace
