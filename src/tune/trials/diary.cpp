#include "tune/trials/diary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>

#include "trace/json/json_text.h"

namespace unstarve::tune {

namespace {

using Json = nlohmann::json;

// Compiling still in the second half of the steps, and so many times, is not a warm-up.
constexpr std::size_t kFewestRecompiles = 4;
constexpr std::size_t kFewestCallsOfTail = 20;
constexpr std::size_t kLongestWhy = 200;

constexpr std::array<std::string_view, 7> kOutOfMemory = {
    "OutOfMemoryError",
    "CUDA out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: can't",
    "builtins.MemoryError",
    "CUDA error: out of memory",
    "]: MemoryError",  // a rank's traceback, behind torchrun's prefix
};
constexpr std::array<std::string_view, 5> kCompileFailed = {
    "torch._dynamo.exc", "torch._inductor.exc", "BackendCompilerFailed",
    "CppCompileError",   "InductorError",
};

template <std::size_t N>
bool mentions(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// The last one; empty: none does.
template <std::size_t N>
std::string line_that_mentions(std::string_view text,
                               const std::array<std::string_view, N>& words) {
  std::string found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (mentions(line, words)) found = std::string(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return found;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const std::size_t from = text.rfind('\n');
  return std::string(from == std::string_view::npos ? text : text.substr(from + 1));
}

std::int64_t integer_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// Numbers; "nan" and "inf" are written in words, null is not known.
std::vector<double> numbers_of(const Json& json, const char* key, bool& not_finite) {
  std::vector<double> values;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return values;
  for (const Json& element : *found) {
    not_finite = not_finite || element.is_string();
    values.push_back(element.is_number() ? element.get<double>()
                                         : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

void read_texts(const Json& json, const char* key, std::map<std::string, std::string>& texts) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return;
  for (const auto& [name, text] : found->items()) {
    if (text.is_string()) texts[name] = text.get<std::string>();
  }
}

/// Of each graph, or of several made in one step: the step, how many there are now, and from when
/// to when the step went.
void read_compiling(const Json& json, Diary& diary) {
  const auto graphs = json.find("graphs");
  if (graphs == json.end() || !graphs->is_array()) return;
  for (const Json& graph : *graphs) {
    const auto number = [&graph](std::size_t at) {
      return graph.is_array() && at < graph.size() && graph[at].is_number_integer()
                 ? graph[at].get<std::int64_t>()
                 : 0;
    };
    diary.last_compiling_step = std::max(diary.last_compiling_step, number(0));
    const trace::Interval when = {number(2), number(3)};
    if (number(0) > 1 && when.start_ns > 0 && when.end_ns > when.start_ns) {
      diary.compiling.push_back(when);
    }
  }
  const bool was_often = graphs->size() >= kFewestRecompiles;
  diary.never_stopped_compiling = was_often && diary.last_compiling_step > diary.steps / 2;
}

void read_windows(const Json& json, std::vector<Diary::Window>& windows) {
  const auto found = json.find("windows");
  if (found == json.end() || !found->is_array()) return;
  for (const Json& window : *found) {
    const bool pair =
        window.is_array() && window.size() == 2 && window[0].is_number() && window[1].is_number();
    if (!pair || !(window[0].get<double>() >= 1) || !(window[1].get<double>() > 0)) continue;
    windows.push_back({window[0].get<double>(), window[1].get<double>() / window[0].get<double>()});
  }
}

/// Of fewer calls than kFewestCallsOfTail nobody knows what the slowest of them take.
Latency latency_of(const Json& json) {
  const auto found = json.find("latencies");
  if (found == json.end() || !found->is_array()) return {};
  std::vector<double> seconds;
  for (const Json& element : *found) {
    if (element.is_number() && element.get<double>() > 0) seconds.push_back(element.get<double>());
  }
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  Latency latency;
  latency.calls = static_cast<std::int64_t>(seconds.size());
  latency.median_s = seconds[(seconds.size() - 1) / 2];
  if (seconds.size() >= kFewestCallsOfTail) {
    latency.p95_s = seconds[(95 * seconds.size() + 99) / 100 - 1];  // the nearest rank
  }
  return latency;
}

void read_job(const Json& json, TrialResult& facts) {
  const auto job = json.find("job");
  if (job == json.end() || !job->is_object()) return;
  const auto text = [&job](const char* key) {
    const auto found = job->find(key);
    return found != job->end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  facts.device = text("device");
  facts.optimizer = text("optimizer");
  facts.trainer = text("trainer");
  facts.threads = integer_of(*job, "threads");
  facts.interop_threads = integer_of(*job, "interop_threads");
  facts.loads = job->value("loads", Json()) != Json(false);
}

}  // namespace

Diary parse_diary(std::string_view text) {
  Diary diary;
  const Json json = trace::parse_json(text);
  if (!json.is_object()) return diary;
  diary.found = true;
  if (const auto applied = json.find("applied"); applied != json.end() && applied->is_array()) {
    for (const Json& lever : *applied) {
      if (lever.is_string()) diary.applied.insert(lever.get<std::string>());
    }
  }
  read_texts(json, "refused", diary.refused);
  diary.steps = std::max<std::int64_t>(0, integer_of(json, "steps"));
  if (const auto error = json.find("error"); error != json.end() && error->is_string()) {
    diary.error = error->get<std::string>();
  }
  TrialResult& facts = diary.facts;
  facts.losses = numbers_of(json, "losses", diary.loss_not_finite);
  facts.gradient_norms = numbers_of(json, "gradients", diary.loss_not_finite);
  facts.gradient_sketch = numbers_of(json, "sketch", diary.loss_not_finite);
  const auto last = json.find("last_loss");
  diary.loss_not_finite = diary.loss_not_finite || (last != json.end() && last->is_string());
  read_compiling(json, diary);
  facts.rows = integers_from(json.value("rows", Json()));
  facts.numbers = integers_from(json.value("numbers", Json()));
  facts.calls = integers_from(json.value("calls", Json()));
  facts.tensors = tensors_from(json.value("tensors", Json()));
  facts.generators = generators_from(json.value("generators", Json()));
  if (diary.steps > 0) {
    facts.backwards_per_step =
        static_cast<double>(integer_of(json, "backwards")) / static_cast<double>(diary.steps);
    facts.skipped_ratio =
        static_cast<double>(integer_of(json, "skipped")) / static_cast<double>(diary.steps);
  }
  const auto amount = [&json](const char* key) {
    return std::max<std::int64_t>(0, integer_of(json, key));
  };
  facts.samples_per_step = static_cast<double>(amount("called_with"));
  facts.samples_are_rows = facts.samples_per_step > 0;
  facts.input_numbers = static_cast<double>(amount("input_numbers"));
  facts.peak_memory_bytes = amount("peak_memory_bytes");
  facts.used_memory_bytes = amount("used_memory_bytes");
  facts.total_memory_bytes = amount("total_memory_bytes");
  facts.allocator_retries = amount("allocator_retries");
  facts.latency = latency_of(json);
  if (const auto shares = json.find("shares"); shares != json.end()) {
    facts.shares = shares_from(*shares);
  }
  read_job(json, facts);
  read_windows(json, diary.windows);
  read_texts(json, "why_not", facts.why_not);
  facts.constructed = constructed_from(json.value("arguments", Json()));
  const auto survey = json.find("why_not");
  facts.surveyed = survey != json.end() && survey->is_object() && !survey->empty();
  return diary;
}

Classified classify(const ProcessEnd& end, const Diary& diary,
                    const std::vector<std::string>& wanted) {
  const bool failed = !end.ended_by_us && (end.exit_code != 0 || end.signal);
  if (failed) {
    const std::string& output = diary.error.empty() ? end.last_output : diary.error;
    const std::string line =
        diary.error.empty() ? last_line(output) : diary.error.substr(0, diary.error.find('\n'));
    const std::string why = line.substr(0, kLongestWhy);
    if (mentions(output, kOutOfMemory)) return {Ending::kOutOfMemory, why};
    if (mentions(output, kCompileFailed)) return {Ending::kCompileFailed, why};
    // Of several ranks the one that speaks may only have lost another, whose error it printed.
    const std::string other = line_that_mentions(end.last_output, kOutOfMemory);
    if (!other.empty()) return {Ending::kOutOfMemory, other.substr(0, kLongestWhy)};
    if (end.signal) {
      const bool out = *end.signal == SIGKILL;
      return {Ending::kKilled, fmt::format("by signal {}{}", *end.signal,
                                           out ? ", as the system does where memory ends" : "")};
    }
    return {Ending::kCrashed, fmt::format("exit {}: {}", end.exit_code, why)};
  }
  if (end.timed_out) return {Ending::kTimeout, "no first step in the time that it was given"};
  for (const std::string& lever : wanted) {
    if (diary.applied.count(lever) != 0) continue;
    const auto refused = diary.refused.find(lever);
    return {Ending::kNotApplied, refused != diary.refused.end()
                                     ? refused->second
                                     : "the hook saw no training to apply it to"};
  }
  if (diary.loss_not_finite) return {Ending::kNotFinite, "the loss became NaN or infinite"};
  if (diary.never_stopped_compiling) {
    return {Ending::kRecompiled, "torch.compile still compiled in the second half of the trial"};
  }
  return {};
}

}  // namespace unstarve::tune
