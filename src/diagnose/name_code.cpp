#include "diagnose/name_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "diagnose/line_words.h"
#include "diagnose/lines/code_tally.h"
#include "diagnose/signals/fetch_looks.h"

namespace unstarve::diagnose {

namespace {

/// What the device's idle time at `instant` was given to; nothing where it was busy or unknown.
std::optional<Cause> cause_at(const DevicePartition& device, std::int64_t instant) {
  const auto next = std::partition_point(
      device.idle.begin(), device.idle.end(),
      [instant](const IdleSlice& slice) { return slice.when.end_ns <= instant; });
  if (next == device.idle.end() || next->when.start_ns > instant) return std::nullopt;
  return next->cause;
}

/// Looks at the training threads, by what they were at.
struct TrainingLooks {
  CodeTally own{CodeTally::By::kLine};      // outside of the loader
  CodeTally blocked{CodeTally::By::kLine};  // on the device
  std::map<Cause, CodeTally> idle;          // while the device idled, outside of the loader
};

TrainingLooks look_at_training(const SignalSources& sources) {
  const trace::Timeline& timeline = sources.timeline();
  const trace::Interval window = signal_window(sources);
  const std::vector<job::ThreadKey>& threads = sources.rank.training;
  TrainingLooks looks;
  for (const trace::StackSample& sample : timeline.stack_samples) {
    if (sample.t_ns < window.start_ns || sample.t_ns >= window.end_ns) continue;
    const job::ThreadKey thread = {sample.process, sample.thread};
    if (!std::binary_search(threads.begin(), threads.end(), thread)) continue;
    if (covers(sources.rank.waits, sample.t_ns)) continue;
    const trace::Stack& stack = timeline.stacks[sample.stack];
    looks.own.add(sample, stack);
    if (stack.in_sync || covers(sources.job.host().blocking_calls(thread), sample.t_ns)) {
      looks.blocked.add(sample, stack);
    }
    if (sources.worst == nullptr) continue;
    if (const std::optional<Cause> cause = cause_at(*sources.worst, sample.t_ns)) {
      looks.idle.try_emplace(*cause, CodeTally::By::kLine).first->second.add(sample, stack);
    }
  }
  return looks;
}

/// What the job's own sampler does, which runs in the training thread.
CodeTime look_at_sampler(const SignalSources& sources) {
  CodeTally tally(CodeTally::By::kLine);
  for (const trace::StackSample& sample : sources.timeline().stack_samples) {
    const trace::Stack& stack = sources.timeline().stacks[sample.stack];
    if (stack.in_order && sources.owns(sample.process)) tally.add(sample, stack);
  }
  return tally.result();
}

/// What the fetches of the loader that feeds the training do, in whatever process.
CodeTime look_at_fetches(const SignalSources& sources) {
  const job::LoaderUse* loader = sources.rank.training_loader();
  if (loader == nullptr) return {};
  CodeTally tally(CodeTally::By::kSamplePart);
  visit_fetch_looks(sources.timeline(), *loader,
                    [&tally](const trace::StackSample& sample, const trace::Stack& stack) {
                      tally.add(sample, stack);
                    });
  return tally.result();
}

void say(CodeTime time, std::string_view looked_at, Finding& finding) {
  if (!time.parts.empty()) {
    finding.evidence.push_back(
        fmt::format("of {} looks at {}: {}", time.looks, looked_at, code_list(time)));
  }
  finding.code = std::move(time);
}

/// The gaps that follow a blocking call are as long as what the thread does next.
void say_what_follows(CodeTime gaps, Finding& finding) {
  if (gaps.parts.empty()) return;
  finding.evidence.push_back(
      fmt::format("of {} looks at it while the GPU then idled: {}", gaps.looks, code_list(gaps)));
  std::erase_if(gaps.parts, [&finding](const CodeShare& code) {
    const bool waits = std::any_of(finding.code.parts.begin(), finding.code.parts.end(),
                                   [&code](const CodeShare& at) { return at.place == code.place; });
    return code.trains || waits;
  });
  finding.follows = std::move(gaps);
}

void name_libraries(const SignalSources& sources, Diagnosis& diagnosis) {
  diagnosis.fetch_libraries = library_time(sources.host);
  const std::string list = library_list(diagnosis.fetch_libraries);
  if (list.empty()) return;
  for (Finding& finding : diagnosis.findings) {
    if (finding.cause != "input_wait") continue;
    finding.evidence.push_back(
        fmt::format("of the CPU time of fetches, outside of the kernel: {}", list));
  }
}

void name_lines(const SignalSources& sources, Diagnosis& diagnosis) {
  if (sources.timeline().stack_samples.empty()) return;
  TrainingLooks looks = look_at_training(sources);
  diagnosis.own_code = looks.own.result();
  const auto while_idle = [&looks](Cause cause) {
    return looks.idle.try_emplace(cause, CodeTally::By::kLine).first->second.result();
  };
  for (Finding& finding : diagnosis.findings) {
    if (finding.detail == "sampler") {
      say(look_at_sampler(sources), "the job's sampler", finding);
    } else if (finding.cause == "input_wait") {
      say(look_at_fetches(sources), "fetches of batches", finding);
    } else if (finding.cause == "sync") {
      say(looks.blocked.result(), "the training thread while it was blocked", finding);
      say_what_follows(while_idle(Cause::kSync), finding);
    } else if (finding.cause == "launch" || finding.cause == "kernel_wait" ||
               finding.cause == "other") {
      const Cause cause = finding.cause == "launch"  ? Cause::kLaunch
                          : finding.cause == "other" ? Cause::kOther
                                                     : Cause::kKernelWait;
      say(while_idle(cause), "the training thread in this time", finding);
    }
  }
}

}  // namespace

void name_code(const SignalSources& sources, Diagnosis& diagnosis) {
  name_lines(sources, diagnosis);
  name_libraries(sources, diagnosis);
}

}  // namespace unstarve::diagnose
