#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "advise/rank_verdict.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/errors/xid_catalogue.h"
#include "diagnose/words/wording.h"
#include "examine/history/trial_dirs.h"
#include "predict/speedup.h"
#include "report/tried/trial_words.h"
#include "report/words/words.h"
#include "trial/trial_folder.h"

namespace unstarve::report {

namespace {

bool by_repetition(const Report& report) {
  return report.diagnosis.steps.source == trace::StepSource::kRepetition;
}

/// Of steps that are seen only where the GPU was recorded, how many and in how much of the run.
std::string how_told(const Report& report) {
  const std::string& other = report.facts.framework;
  std::string text =
      fmt::format(" ({}: steps by repetition of its kernels, {} seen",
                  other.empty() ? "neither an optimizer of torch nor a DataLoader tells of them"
                                : fmt::format("no PyTorch seen, but {}", other),
                  std::max(report.facts.steps, report.diagnosis.steps.count));
  double recorded_us = 0;
  for (const diagnose::DeviceDiagnosis& device : report.diagnosis.devices) {
    if (device.recorded) recorded_us = std::max(recorded_us, device.recorded->recorded_us);
  }
  if (recorded_us > 0) text += " in the " + microseconds_text(recorded_us) + " recorded";
  return text + ")";
}

/// ", the first batch asked for after 40 s", where that is much of the run and more than imports
/// take.
std::string until_the_first_batch(const RunFacts& facts) {
  constexpr double kLong = 8;
  constexpr double kMuch = 0.2;
  const double after_s = facts.first_asked_s.value_or(0);
  if (after_s < std::max(kLong, kMuch * facts.duration_s.value_or(0))) return "";
  return fmt::format(", the first batch asked for after {}", seconds_text(after_s));
}

/// ", 58 ms of it training", where that is little of the run: shares are of the training.
std::string of_it_training(const Report& report) {
  constexpr double kLittle = 0.1;
  const diagnose::StepSummary& steps = report.diagnosis.steps;
  const double trained_s =
      static_cast<double>(steps.count) * steps.mean_us.value_or(0) / kMicrosecondsPerSecond;
  const bool is_little = trained_s > 0 && trained_s < kLittle * report.facts.duration_s.value_or(0);
  return is_little ? fmt::format(", {} of it training", seconds_text(trained_s)) : "";
}

/// "after 60 steps in 12.2 s", as far as it is known.
std::string after_what(const Report& report) {
  const RunFacts& facts = report.facts;
  const std::int64_t steps = std::max(facts.steps, report.diagnosis.steps.count);
  std::string text;
  const bool batches = report.diagnosis.steps.source == trace::StepSource::kLoaderBatch;
  const char* const unit = batches ? "batch" : "step";
  const char* const plural = batches ? "es" : "s";
  if (by_repetition(report))
    return facts.duration_s ? " in " + seconds_text(*facts.duration_s) : "";
  if (steps > 0) {
    text = fmt::format("{} {} {}{}", facts.attached ? "" : " after", steps, unit,
                       steps == 1 ? "" : plural);
  }
  if (steps == 0 && facts.exit_code) text = " without a training step";
  if (facts.duration_s) text += " in " + seconds_text(*facts.duration_s) + of_it_training(report);
  return text + until_the_first_batch(facts);
}

/// ": 202.9 ms a step, 157 samples/s".
std::string at_what_rate(const Report& report) {
  const diagnose::StepSummary& steps = report.diagnosis.steps;
  if (!steps.median_us) return {};
  const bool batches = steps.source == trace::StepSource::kLoaderBatch;
  // Steps by repetition are told by launches, of which a host that runs ahead makes many at once.
  if (by_repetition(report) && steps.mean_us.value_or(0) > 0) {
    return fmt::format(": {} a step in the mean, {} steps/s{}", microseconds_text(*steps.mean_us),
                       number_text(kMicrosecondsPerSecond / *steps.mean_us), how_told(report));
  }
  std::string text =
      fmt::format(": {} a {}", microseconds_text(*steps.median_us), batches ? "batch" : "step");
  if (steps.samples_per_s) text += fmt::format(", {} samples/s", number_text(*steps.samples_per_s));
  if (batches) text += " (no optimizer stepped: each batch of the loader is a step)";
  if (steps.source == trace::StepSource::kBackward)
    text += " (no optimizer of torch stepped: each backward() is a step)";
  return text;
}

/// "XID 31 (GPU memory page fault)".
std::string error_name(const diagnose::GpuErrorGroup& error) {
  const std::string_view meaning = diagnose::words_of_xid(error.xid).meaning;
  return fmt::format("XID {}{}", error.xid, meaning.empty() ? "" : fmt::format(" ({})", meaning));
}

/// "GPU 0", "MIG instance 7 of GPU 0".
std::string error_place(const diagnose::GpuErrorGroup& error) {
  const std::string gpu = fmt::format("GPU {}", error.device);
  return error.gpu_instance ? fmt::format("MIG instance {} of {}", *error.gpu_instance, gpu) : gpu;
}

/// "; GPU 0 reported XID 31 (GPU memory page fault)": the first, from which others follow.
std::string with_what_error(const diagnose::Diagnosis& diagnosis) {
  if (diagnosis.gpu_errors.empty()) return {};
  const diagnose::GpuErrorGroup& first = diagnosis.gpu_errors.front();
  return fmt::format("; {} reported {}", error_place(first), error_name(first));
}

/// "torch.OutOfMemoryError at train.py:57: CUDA out of memory. ...", and what helps.
std::string python_error(const trace::ErrorText& error) {
  std::string text = error.kind;
  if (!error.place.empty()) text += " at " + error.place;
  if (!error.message.empty()) text += ": " + error.message;
  if (std::string_view(".?!").find(text.back()) == std::string_view::npos) text += ".";
  const std::string_view kind = error.kind;
  constexpr std::string_view kOutOfMemory = "OutOfMemoryError";
  if (kind.size() >= kOutOfMemory.size() &&
      kind.substr(kind.size() - kOutOfMemory.size()) == kOutOfMemory) {
    text +=
        " Take smaller batches and add up the gradients of several; where much of the memory is "
        "reserved and not allocated, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
  }
  return text;
}

}  // namespace

std::vector<std::string> error_sentences(const Report& report) {
  std::vector<std::string> sentences;
  if (!report.facts.error.kind.empty()) sentences.push_back(python_error(report.facts.error));
  for (const diagnose::GpuErrorGroup& error : report.diagnosis.gpu_errors) {
    std::string text = fmt::format("{} reported error {}", error_place(error), error_name(error));
    text += error.after_steps > 0 ? fmt::format(" after step {}", error.after_steps)
                                  : fmt::format(" {} into the run", seconds_text(error.first_at_s));
    if (error.count > 1) text += fmt::format(", {} times in all", error.count);
    sentences.push_back(fmt::format("{}: {}.", text, diagnose::words_of_xid(error.xid).advice));
  }
  return sentences;
}

namespace {

constexpr std::size_t kMostWords = 12;

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ' && (i == 0 || text[i - 1] == ' ')) ++count;
  }
  return count;
}

/// By the cause of the finding that leads.
std::string headline_of(const diagnose::Finding& lead) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords = {{
      {"input_wait", "The GPU waits for data {} of the time."},
      {"sync", "The GPU idles {} of the time: the job awaits results."},
      {"launch", "The GPU idles {} of the time: work comes too late."},
      {"exposed_copy", "The GPU does nothing but copy {} of the time."},
      {"exposed_communication", "The GPU waits for other GPUs {} of the time."},
      {"kernel_wait", "The GPU idles {} of the time between short kernels."},
      {"gpu_busy", "The GPU is busy {} of the time."},
      {"other", "The GPU idles {} of the time; why was not recorded."},
  }};
  if (lead.cause == "sync" && lead.detail == "read_back") {
    return fmt::format("The GPU idles {} of the time: the job reads values back.",
                       percent_text(lead.share));
  }
  for (const auto& [cause, words] : kWords) {
    if (cause == lead.cause) return fmt::format(fmt::runtime(words), percent_text(lead.share));
  }
  return {};
}

/// Of a job that ended otherwise than well: Python's word for it, else the GPU's, else the
/// kernel's.
std::string failure_headline(const Report& report) {
  const RunFacts& facts = report.facts;
  if (!facts.error.kind.empty()) return fmt::format("The job failed: {}.", facts.error.kind);
  if (!report.diagnosis.gpu_errors.empty()) {
    const diagnose::GpuErrorGroup& first = report.diagnosis.gpu_errors.front();
    return fmt::format("The job failed: {} reported XID {}.", error_place(first), first.xid);
  }
  return facts.exit_signal.empty()
             ? fmt::format("The job failed with exit code {}.", facts.exit_code.value_or(1))
             : fmt::format("The job ended by {}.", facts.exit_signal);
}

/// "Rank 1 of 2 is late: the others wait for it."
std::string rank_headline(const diagnose::RankComparison& ranks) {
  const std::size_t others = ranks.rows.size() - 1;
  const std::string name =
      diagnose::capitalised(diagnose::name_of(ranks.rows[ranks.straggler->row]));
  return fmt::format("{} of {} is late: the {} for it.", name, ranks.rows.size(),
                     others == 1 ? "other waits" : "others wait");
}

/// Where the host alone speaks.
std::string host_headline(const diagnose::Diagnosis& diagnosis, const diagnose::Finding* lead) {
  if (lead != nullptr && lead->cause == "input_wait") {
    return fmt::format("Training waits for data {} of the time.", percent_text(lead->share));
  }
  if (!diagnosis.thread_time) return {};
  return fmt::format("Training waits for data only {} of the time.",
                     percent_text((*diagnosis.thread_time).input_wait));
}

}  // namespace

std::string short_headline(const Report& report) {
  if (job_failed(report.facts)) return failure_headline(report);
  if (!report.facts.no_steps.empty()) return "No training step was seen.";
  const diagnose::Finding* const lead = leading_finding(report);
  if (advise::straggler_leads(report.diagnosis)) return rank_headline(report.diagnosis.ranks);
  std::string text;
  if (!report.diagnosis.partition) {
    text = host_headline(report.diagnosis, lead);
  } else {
    text = lead == nullptr ? "Nothing that holds the GPU up was found." : headline_of(*lead);
  }
  if (!text.empty()) return text;
  const std::string& verdict = report.advice.verdict;
  if (!verdict.empty() && count_words(verdict) <= kMostWords) return verdict;
  return "Where the time goes was not recorded.";
}

bool job_failed(const RunFacts& facts) {
  if (facts.stopped_by_us) return false;
  return !facts.exit_signal.empty() || facts.exit_code.value_or(0) != 0;
}

std::string what_happened(const Report& report) {
  const RunFacts& facts = report.facts;
  std::string text;
  if (facts.stopped_by_us) {
    text = "Stopped by unstarve";
  } else if (!facts.exit_signal.empty()) {
    text = "The job ended by " + facts.exit_signal;
  } else if (facts.exit_code) {
    text = fmt::format("exit {}", *facts.exit_code);
    // A shell's word for a program of its own that a signal ended.
    if (const std::int64_t number = *facts.exit_code - 128; number > 0 && number < 65) {
      text += fmt::format(" (128 + {})", signal_name(number));
    }
  } else if (facts.attached) {
    text = "Watched";
  } else if (report.diagnosis.steps.count == 0) {
    return {};
  } else {
    text = report.diagnosis.input == trace::InputKind::kRun ? "So far" : "Recorded";
  }
  text += after_what(report) + at_what_rate(report);
  if (job_failed(facts)) text += with_what_error(report.diagnosis);
  return text + ".";
}

const Verification* best_verified(const std::vector<Verification>& verification) {
  // What became of the change that is proposed.
  if (!verification.empty() && verification.back().remedy == examine::kAsWritten) {
    return &verification.back();
  }
  const auto best =
      std::max_element(verification.begin(), verification.end(),
                       [&verification](const Verification& a, const Verification& b) {
                         const bool kept = a.outcome == trial::Outcome::kKept;
                         if (kept != (b.outcome == trial::Outcome::kKept)) return !kept;
                         return total_speedup(verification, a) < total_speedup(verification, b);
                       });
  return best == verification.end() ? nullptr : &*best;
}

std::string proof_sentence(const Verification& tried) {
  const std::string measured = speedup_text(tried.measured);
  const std::string subject =
      tried.remedy == examine::kAsWritten ? "the change as it is written" : tried.remedy;
  std::string text = tried.measured.speedup < 1
                         ? fmt::format("{} did not make the job faster: {}", subject, measured)
                         : fmt::format("{} made the job {} faster", subject, measured);
  if (tried.base != examine::kBefore) text += " on top of " + tried.base;
  text += tried.predicted ? fmt::format("; predicted {}, which {}", speedup_text(*tried.predicted),
                                        tried.held ? "held" : "did not hold")
                          : std::string("; nothing had been predicted");
  if (const std::string drift = drift_words(tried); !drift.empty()) text += "; " + drift;
  return text;
}

const diagnose::Finding* leading_finding(const Report& report) {
  const std::optional<std::size_t>& leading = report.advice.leading_finding;
  return leading ? &report.diagnosis.findings[*leading] : nullptr;
}

std::string next_sentence(const advise::Advice& advice) {
  if (!advice.next_remedy) return {};
  const advise::Remedy& remedy = *advice.next_remedy;
  if (!remedy.predicted) return remedy.how;
  return fmt::format("{} (predicted {})", remedy.how, speedup_text(*remedy.predicted));
}

std::vector<std::string> stage_sentences(const Report& report) {
  std::vector<std::string> sentences;
  if (report.stages.empty()) return sentences;
  const std::size_t longest = examine::longest_stage(report.stages);
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    const examine::Stage& stage = report.stages[i];
    std::string text = stage.name;
    text += stage.duration_s ? " " + seconds_text(*stage.duration_s) : " has not ended";
    if (stage.exit_code) text += fmt::format(", exit {}", *stage.exit_code);
    if (!stage.cause.empty()) {
      diagnose::Finding found;
      found.cause = stage.cause;
      found.detail = stage.detail;
      text += fmt::format(": {} {}", percent_text(stage.share), finding_words(found));
    }
    if (i == longest && report.stages.size() > 1) text += " (the longest; below)";
    sentences.push_back(std::move(text));
  }
  return sentences;
}

std::vector<std::string> not_observed_sentences(const advise::Advice& advice) {
  std::vector<std::string> sentences;
  for (const advise::NotObserved& unseen : advice.not_observed) {
    sentences.push_back(
        fmt::format("{} was not observed ({}): {}.", unseen.what, unseen.why, unseen.how));
  }
  return sentences;
}

std::vector<Unseen> unseen_by_reason(const diagnose::Diagnosis& diagnosis) {
  std::vector<Unseen> reasons;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const diagnose::Abstention& silent : diagnosis.abstentions) {
    auto reason = std::find_if(reasons.begin(), reasons.end(),
                               [&](const Unseen& unseen) { return unseen.why == silent.why; });
    if (reason == reasons.end()) reason = reasons.insert(reason, {silent.why, {}, {}});
    add(reason->signals, silent.signal);
    add(reason->rules, silent.rule);
  }
  return reasons;
}

}  // namespace unstarve::report
