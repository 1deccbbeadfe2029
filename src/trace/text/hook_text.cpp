#include "trace/text/hook_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "trace/json/json_text.h"

namespace unstarve::trace {

namespace {

using Json = nlohmann::json;

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json member(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

/// The bytes that `digits` spell, two digits each; those behind the first damage are left out.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

/// `count` integers in a list.
bool are_integers(const Json& list, std::size_t count) {
  return list.is_array() && list.size() == count &&
         std::all_of(list.begin(), list.end(),
                     [](const Json& number) { return number.is_number_integer(); });
}

std::vector<std::string> texts_at(const Json& object, const char* key) {
  const Json list = member(object, key);
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Json& text : list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

/// Of `columns`: all of them, and those that are needed.
Reading<double> padded_of(const Json& columns) {
  if (!are_integers(columns, 2)) return {};
  const auto all = columns[0].get<double>();
  const auto needed = columns[1].get<double>();
  if (!(all > 0) || needed < 0 || needed > all) return {};
  return 1 - needed / all;
}

DataSet data_set_of(const Json& json) {
  DataSet data;
  data.class_name = text_at(json, "class");
  data.files_class = text_at(json, "files_class");
  if (data.files_class.empty()) data.files_class = data.class_name;
  // A path that is no UTF-8 is only shown by `root`; its bytes are beside it.
  data.folder = bytes_of(text_at(json, "root_hex"));
  if (data.folder.empty()) data.folder = text_at(json, "root");
  data.is_stream = member(json, "stream") == Json(true);
  const Json repeat = member(json, "workers_repeat");
  if (repeat.is_boolean()) data.workers_repeat = repeat.get<bool>();
  data.skips_at = text_at(json, "skips_at");
  data.skipped_made_by = texts_at(json, "skipped_made_by");
  data.padded = padded_of(member(json, "columns"));
  return data;
}

LoaderWords words_of(const Json& json) {
  LoaderWords words = {text_at(json, "loader_place"), data_set_of(member(json, "dataset")),
                       text_at(json, "iterated_at")};
  words.data.transforms = texts_at(json, "transforms");
  return words;
}

/// "/home/me/train.py" of "train.py:41" in "/home/me"; empty where it is not known.
std::string file_of(const std::string& place, const std::string& directory) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos || directory.empty()) return {};
  return (std::filesystem::path(directory) / place.substr(0, colon)).string();
}

/// Why the hook left a loader as it was, or gave it less, for the first that it did.
std::string first_reason(const Json& text, const char* key) {
  const Json refused = member(text, key);
  return refused.is_array() && !refused.empty() ? text_at(refused.front(), "reason") : "";
}

/// A name in the run directory, and no path to elsewhere.
bool is_plain_name(const std::string& name) {
  return name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

ProfileText profile_of(const Json& json) {
  ProfileText profile;
  profile.file = text_at(json, "file");
  if (!is_plain_name(profile.file)) profile.file.clear();
  for (const Json& mark : member(json, "marks")) {
    if (are_integers(mark, 3)) profile.marks.push_back({mark[0], mark[1], mark[2]});
  }
  const Json held_up = member(json, "held_up");
  if (are_integers(held_up, 2) && held_up[0] <= held_up[1]) {
    profile.interruption = {held_up[0], held_up[1]};
  }
  return profile;
}

/// What is no count of anything is not said.
Reading<double> amount_at(const Json& object, const char* key) {
  constexpr double kMost = 1e21;  // in a step, of operations or bytes
  const Json number = member(object, key);
  if (!number.is_number()) return WhyAbsent::kNotObserved;
  const auto value = number.get<double>();
  if (!(value >= 0 && value <= kMost)) return WhyAbsent::kNotObserved;
  return value;
}

/// The same as a whole number; more than 2^53 of anything is no count.
Reading<std::int64_t> count_at(const Json& object, const char* key) {
  constexpr double kMost = 9007199254740992.0;
  const Reading<double> amount = amount_at(object, key);
  if (!amount) return amount.why_absent();
  if (*amount > kMost) return WhyAbsent::kNotObserved;
  return static_cast<std::int64_t>(*amount);
}

FlopText flops_of(const Json& json) {
  FlopText flops;
  flops.refused = text_at(json, "refused");
  const Json kinds = member(json, "kinds");
  if (kinds.is_object()) {
    for (const auto& [dtype, value] : kinds.items()) {
      const Reading<double> count = amount_at(kinds, dtype.c_str());
      if (count) flops.by_dtype[dtype] = *count;
    }
  }
  flops.step = count_at(json, "step").value_or(-1);
  flops.samples = count_at(json, "samples");
  flops.device = text_at(json, "device");
  flops.operand_bytes = amount_at(json, "operand_bytes");
  flops.beyond_cache_bytes = amount_at(json, "beyond_cache_bytes");
  flops.cache_bytes = amount_at(json, "cache_bytes");
  flops.threads = count_at(json, "threads");
  flops.not_counted = texts_at(json, "not_counted");
  flops.compiled = member(json, "compiled") == true;
  return flops;
}

/// A number of ranks, or of one; -1 where it is none.
std::int64_t rank_at(const Json& text, const char* key) {
  constexpr std::uint64_t kMost = 1 << 24;
  const Json number = member(text, key);
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost) return -1;
  return static_cast<std::int64_t>(number.get<std::uint64_t>());
}

/// -1 where `name` is no number.
std::int64_t number_of(const std::string& name) {
  std::int64_t number = -1;
  const char* const end = name.data() + name.size();
  return std::from_chars(name.data(), end, number).ptr == end ? number : -1;
}

/// Workers say it of the loaders that they are of, which have the same numbers in every rank.
void add_draws(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  std::map<std::int64_t, bool> draws;
  for (const ProcessRecord& process : processes) {
    for (const auto& [id, drew] : parse_hook_text(process.text).fetches_draw) {
      draws[id] = draws[id] || drew;
    }
  }
  for (LoaderConfig& loader : timeline.loaders) {
    const auto found = draws.find(loader.id.value_or(-1));
    if (found != draws.end()) loader.data.draws = found->second;
  }
}

}  // namespace

HookText parse_hook_text(std::string_view process_text) {
  const Json text = parse_json(process_text);
  HookText words;
  if (!text.is_object()) return words;
  words.directory = text_at(text, "directory");
  words.first_loader = words_of(text);
  const Json loaders = member(text, "loaders");
  if (loaders.is_object()) {
    for (const auto& [id, loader] : loaders.items())
      words.loaders[number_of(id)] = words_of(loader);
  }
  const Json draws = member(text, "fetches_draw");
  if (draws.is_object()) {
    for (const auto& [id, drew] : draws.items()) {
      if (drew.is_boolean()) words.fetches_draw[number_of(id)] = drew.get<bool>();
    }
  }
  const Json left_out = member(text, "left_out");
  words.data_left_out = left_out.is_array() &&
                        std::find(left_out.begin(), left_out.end(), "dataset") != left_out.end();
  words.fix_applied = text.contains("fix_applied");
  words.fix_refused = first_reason(text, "fix_refused");
  words.fix_limited = first_reason(text, "fix_limited");
  words.profile = profile_of(member(text, "profile"));
  words.flops = flops_of(member(text, "flops"));
  const Json device = member(text, "trains_on");
  words.device.kind = text_at(device, "device");
  words.device.build = text_at(device, "build");
  words.device.ordinal = std::max<std::int64_t>(0, rank_at(device, "ordinal"));
  words.device.uuid = text_at(device, "uuid");
  if (member(device, "visible").is_string()) words.device.visible = text_at(device, "visible");
  const Json went_back = member(device, "gradients");
  if (went_back.is_boolean()) words.device.computes_gradients = went_back.get<bool>();
  words.device.unwatched = text_at(member(text, "profile"), "skipped");
  words.cpu_mask = text_at(text, "cpu_mask");
  words.rank = rank_at(text, "rank");
  words.ranks = rank_at(text, "world_size");
  const Json places = member(text, "host_work_places");
  if (places.is_object()) {
    for (const auto& [kind, place] : places.items()) {
      if (place.is_string()) words.host_work_places[number_of(kind)] = place.get<std::string>();
    }
  }
  const Json error = member(text, "ended_by");
  words.ended_by = {text_at(error, "kind"), text_at(error, "message"), text_at(error, "place")};
  const Json gradients = member(text, "gradient_bytes");
  if (gradients.is_number_unsigned()) {
    words.gradient_bytes =
        static_cast<std::int64_t>(std::min(gradients.get<std::uint64_t>(), std::uint64_t{1} << 60));
  }
  return words;
}

std::string text_of_training(const std::vector<ProcessRecord>& processes) {
  std::string best;
  for (const ProcessRecord& process : processes) {
    const Json text = parse_json(process.text);
    if (!text.is_object()) continue;
    // A job may have several Python processes; the one with a loader is the training process.
    if (best.empty() || text.contains("loader_place")) best = process.text;
  }
  return best;
}

ErrorText first_error(const std::vector<ProcessRecord>& processes) {
  ErrorText first;
  std::int64_t first_ended_ns = 0;
  for (const ProcessRecord& process : processes) {
    ErrorText error = parse_hook_text(process.text).ended_by;
    const std::int64_t ended_ns = process.ended_ns.value_or(process.row.started_ns);
    if (error.kind.empty() || (!first.kind.empty() && ended_ns >= first_ended_ns)) continue;
    first = std::move(error);
    first_ended_ns = ended_ns;
  }
  return first;
}

void add_loader_words(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  for (const ProcessRecord& process : processes) {
    const HookText text = parse_hook_text(process.text);
    const LoaderConfig* first = nullptr;
    for (LoaderConfig& loader : timeline.loaders) {
      if (loader.process != process.row.id.pid || !loader.id) continue;
      if (first == nullptr) first = &loader;
      const auto found = text.loaders.find(*loader.id);
      // Of a text that was too long for all of them the first one's words are left.
      if (found == text.loaders.end() && *loader.id != *first->id) continue;
      const LoaderWords& words = found != text.loaders.end() ? found->second : text.first_loader;
      loader.place = words.place;
      loader.file = file_of(words.place, text.directory);
      loader.data = words.data;
      loader.iterated_at = words.iterated_at;
    }
  }
  add_draws(processes, timeline);
}

void add_host_work_places(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  for (const ProcessRecord& process : processes) {
    for (auto& [kind, place] : parse_hook_text(process.text).host_work_places) {
      if (kind < 0 || kind > static_cast<std::int64_t>(kLastHostWorkKind)) continue;
      timeline.host_work_places.push_back(
          {process.row.id.pid, static_cast<HostWorkKind>(kind), place});
    }
  }
}

void add_worker_cpus(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  std::vector<unsigned> digits;  // of all masks together, the last one first
  for (const ProcessRecord& process : processes) {
    if (process.row.role != ProcessRole::kLoaderWorker) continue;
    const std::string mask = parse_hook_text(process.text).cpu_mask;
    digits.resize(std::max(digits.size(), mask.size()));
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const char* const digit = mask.data() + mask.size() - 1 - i;
      unsigned value = 0;
      if (std::from_chars(digit, digit + 1, value, 16).ec == std::errc()) digits[i] |= value;
    }
  }
  std::int64_t cpus = 0;
  for (const unsigned digit : digits) cpus += std::popcount(digit);
  if (cpus > 0) timeline.worker_cpus = cpus;
}

void add_training_devices(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  for (const ProcessRecord& process : processes) {
    HookText parsed = parse_hook_text(process.text);
    if (parsed.rank >= 0 && parsed.ranks > 1) {
      timeline.rank_numbers.push_back({process.row.id.pid, parsed.rank, parsed.ranks});
    }
    TrainingDevice device = std::move(parsed.device);
    if (device.kind.empty()) continue;
    device.process = process.row.id.pid;
    timeline.training_devices.push_back(std::move(device));
  }
}

}  // namespace unstarve::trace
