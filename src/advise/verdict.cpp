#include "advise/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "advise/host_verdict.h"
#include "advise/rank_verdict.h"
#include "base/number_words.h"
#include "diagnose/line_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"
#include "predict/speedup.h"

namespace unstarve::advise {

namespace {

using diagnose::Diagnosis;
using diagnose::Finding;
using Words = std::pair<std::string_view, std::string_view>;

// What the GPU does with the share of a cause, to stand behind "The GPU ".
constexpr std::array<Words, 8> kCauseWords = {{
    {"gpu_busy", "computes {} of the time: nothing around it holds the job up"},
    {"input_wait", "is idle {} of the time because the training thread waits for the data loader"},
    {"sync", "is idle {} of the time because the host waits for it and queues nothing meanwhile"},
    {"launch", "is idle {} of the time because the host launches the next work too late"},
    {"exposed_copy", "copies data {} of the time with no compute beside it"},
    {"exposed_communication", "communicates {} of the time with no compute beside it"},
    {"kernel_wait", "is idle {} of the time between kernels that were launched in time"},
    {"other", "is idle {} of the time for a reason that the recording does not hold"},
}};

// To stand behind ", mostly because of ".
constexpr std::array<Words, 31> kDetailWords = {{
    {"decode_cpu", "decoding images"},
    {"python_transform", "transforms in Python"},
    {"late_storage", "files that come late"},
    {"storage", "slow storage"},
    {"asleep", "code that sleeps"},
    {"off_cpu", "code that waits, neither for CPU nor for disk"},
    {"page_cache_miss", "files that are not in the page cache"},
    {"too_few_workers", "too few workers"},
    {"too_many_workers", "more workers than CPUs"},
    {"pinned_workers", "workers that may not use all CPUs"},
    {"cpu_quota", "the CPU quota"},
    {"collate_ipc", "collating and handing over batches"},
    {"loader_startup", "workers that start anew"},
    {"sampler", "a sampler that takes long to choose a batch's samples"},
    {"slow_read", "reading files"},
    {"slow_transform", "resizing and transforming"},
    {"too_few_threads", "too few loading threads"},
    {"launch_bound", "many short kernels, each launched by itself"},
    {"host_work", "other work of the host between launches"},
    {"blocking_copies", "copies to it that the host waits for"},
    {"read_back", "values that are read back to the host"},
    {"pageable", "pageable memory"},
    {"small_copies", "many small copies"},
    {"no_overlap", "copies on the computing stream"},
    {"small_batch", "small batches"},
    {"padding", "padding that no text of a batch needs"},
    {"low_precision_unused", "products of 32-bit floats, beside idle tensor cores"},
    {"memory_bound", "kernels that the memory's bandwidth limits"},
    {"misaligned_shapes", "sizes that slow the tensor cores down"},
    {"memory_pressure", "memory of the GPU that is given back and asked for again"},
    {"throttled", "clocks that are held down"},
}};

template <std::size_t N>
std::string_view look_up(const std::array<Words, N>& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [key](const Words& words) { return words.first == key; });
  return found == table.end() ? std::string_view() : found->second;
}

std::string subject(const Diagnosis& diagnosis) {
  const auto emulated =
      std::find_if(diagnosis.devices.begin(), diagnosis.devices.end(),
                   [](const diagnose::DeviceDiagnosis& device) { return device.info.emulated; });
  return emulated == diagnosis.devices.end() ? "The GPU" : "The emulated GPU";
}

bool computes_all_the_time(const Finding& finding) {
  return finding.cause == "gpu_busy" && finding.share >= diagnose::kBusyShare;
}

/// Of a GPU that does not compute all the time, the share is of what is computed without need.
bool is_needless(const Finding& finding) {
  return finding.cause == "gpu_busy" && !computes_all_the_time(finding);
}

std::string cause_words(const Finding& finding) {
  const std::string_view words = is_needless(finding) ? "computes padding {} of the time"
                                                      : look_up(kCauseWords, finding.cause);
  return fmt::format(fmt::runtime(words), percent_text(finding.share));
}

std::string span_note(const Diagnosis& diagnosis) {
  if (diagnosis.steps.count > 1) return "";
  if (diagnosis.steps.count == 1) return " (only one step is recorded)";
  return " (no step boundary is recorded, so the time is from the first GPU operation to the last)";
}

/// Of the time that has no recorded reason, beside a finding that has one.
std::string what_is_not_known(const Diagnosis& diagnosis, const Finding& finding) {
  const double share = (*diagnosis.partition).other;
  if (finding.cause == "other" || diagnosis.findings.front().cause != "other") return "";
  std::string sentence =
      fmt::format(" For {} of the time it is idle for a reason that the recording does not hold",
                  percent_text(share));
  if (diagnosis.edge_other_ratio >= diagnose::kSmallestShare) {
    sentence += fmt::format(": {} before the first or after the last GPU operation in it",
                            percent_text(diagnosis.edge_other_ratio));
  }
  return sentence + ".";
}

}  // namespace

std::string_view detail_words(std::string_view detail) { return look_up(kDetailWords, detail); }

std::string_view detail_words(const Finding& finding) {
  return finding.work.empty() ? detail_words(finding.detail) : std::string_view(finding.work);
}

std::string condition_words(const Diagnosis& diagnosis, const Advice& advice) {
  // A GPU that computes all the time is held up by nobody.
  const bool computes =
      advice.leading_finding && computes_all_the_time(diagnosis.findings[*advice.leading_finding]);
  if (diagnosis.conditions.empty() || computes) return "";
  const std::string words = diagnose::capitalised(diagnosis.conditions.front().evidence.front());
  // Where the kernel groups processes by session, being nice in another one changes nothing.
  return words + ": stop them, or pin them to other CPUs (taskset), and look again.";
}

std::string what_to_do(const Advice& advice) {
  const std::optional<Remedy>& remedy = advice.leading_remedy;
  if (!remedy || remedy->how.empty()) return "";
  std::string how = remedy->how;
  how.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(how.front())));
  if (how.back() == '.') how.pop_back();
  if (!remedy->predicted) return "; " + how;
  return fmt::format("; {} (predicted {})", how, speedup_words(*remedy->predicted));
}

std::string write_verdict(const Diagnosis& diagnosis, const Advice& advice, const JobFacts& job) {
  if (straggler_leads(diagnosis)) {
    return write_rank_verdict(diagnosis, advice, job) + what_to_do(advice) + ".";
  }
  if (!diagnosis.partition) return write_host_verdict(diagnosis, advice, job);
  if (!advice.leading_finding) {
    return subject(diagnosis) + " shows no cause of idling worth a finding.";
  }
  const Finding& first = diagnosis.findings[*advice.leading_finding];
  std::string sentence = subject(diagnosis) + " " + cause_words(first);
  if (first.cause == "input_wait") sentence += which_loaders(job);
  const std::string_view detail = detail_words(first);
  if (!detail.empty() && !(is_needless(first) && first.detail == "padding")) {
    sentence += first.cause == "gpu_busy" ? "; what it computes takes long" : ", mostly";
    sentence += fmt::format(" because of {}", detail);
  }
  sentence += diagnose::line_words(first) + span_note(diagnosis) + what_to_do(advice);
  sentence += "." + what_is_not_known(diagnosis, first);
  if (diagnose::trains_on_host(diagnosis.signals)) sentence += " The model is on the CPU.";
  if (!diagnosis.ranks.straggler) return sentence;
  return sentence + " " + write_rank_verdict(diagnosis, advice, job) + ".";
}

}  // namespace unstarve::advise
