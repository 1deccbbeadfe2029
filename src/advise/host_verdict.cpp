#include "advise/host_verdict.h"

#include <fmt/format.h>

#include "advise/verdict.h"
#include "base/number_words.h"
#include "diagnose/line_words.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

using diagnose::Diagnosis;
using diagnose::trains_on_host;

// From this share on, loading is what the job's speed hangs on.
constexpr double kMuch = 0.2;
// Of the training thread's looks: what they find is more than chance, and the training is most.
constexpr std::int64_t kLooksMin = 30;
constexpr double kMostly = 0.8;
// Of a log, in which clocks that are held down are worth a word.
constexpr double kHeldDown = 0.05;
// The hook's window on the device opens after 10 steps and is 6 long.
constexpr std::int64_t kStepsForWindow = 20;

/// The rest of a step, of which no loader is to blame.
std::string own_work(const Diagnosis& diagnosis) {
  const diagnose::ThreadTime& time = *diagnosis.thread_time;
  if (trains_on_host(diagnosis.signals)) {
    return fmt::format("{} is the training itself, on the CPU{}", percent_text(time.own_work),
                       diagnose::own_line_words(diagnosis));
  }
  if (time.sync && *time.sync > kWorthARemedy) {
    return fmt::format("for {} of it the training thread waits for the GPU",
                       percent_text(*time.sync));
  }
  if (diagnosis.set_aside) return "the rest is the host's own work";
  return "what the GPU does meanwhile was not observed";
}

/// "1 operation, busy for 1.50 us of 130 ms".
std::string what_gpu_ran(const job::SetAside& aside) {
  std::string text =
      fmt::format("{} operation{}, busy for {}", aside.operations, aside.operations == 1 ? "" : "s",
                  duration_text(static_cast<double>(aside.busy_ns)));
  if (aside.of_ns <= aside.busy_ns) return text;  // nothing else is recorded
  return text + " of " + duration_text(static_cast<double>(aside.of_ns));
}

/// Of a GPU that the training does not use; empty where that is not known.
std::string unused_gpu(const Diagnosis& diagnosis) {
  const bool on_host = trains_on_host(diagnosis.signals);
  if (diagnosis.set_aside && on_host) {
    return fmt::format(" The model is on the CPU; the GPU runs next to nothing ({}).",
                       what_gpu_ran(*diagnosis.set_aside));
  }
  if (diagnosis.set_aside && diagnosis.set_aside->reason == job::AsideReason::kHardlyUsed) {
    return fmt::format(
        " The GPU takes no part in the training ({}, in {} steps): the model seems to be on the "
        "CPU.",
        what_gpu_ran(*diagnosis.set_aside), diagnosis.steps.count);
  }
  if (on_host && diagnosis.signals.gpu_utilisation_mean) {
    return " The model is on the CPU, although this machine has a GPU.";
  }
  return "";
}

std::string not_input_bound(const Diagnosis& diagnosis, const JobFacts& job) {
  const double waits = (*diagnosis.thread_time).input_wait;
  return fmt::format("Not input-bound: waiting for the data loader{} takes {} of a step; {}.",
                     which_loader(job), percent_text(waits), own_work(diagnosis));
}

std::string no_promise(const Diagnosis& diagnosis, const Advice& advice) {
  const bool offered =
      !advice.doubtful.empty() || !advice.of_finding(*advice.leading_finding).empty();
  if (advice.leading_remedy || !offered || !trains_on_host(diagnosis.signals)) return "";
  return "; no gain is promised, since loading would compete with the training for the same CPUs";
}

std::string input_bound(const Diagnosis& diagnosis, const Advice& advice, const JobFacts& job) {
  const diagnose::Finding& finding = diagnosis.findings[*advice.leading_finding];
  std::string text = fmt::format("{}: {} of a step waits for the data loader{}",
                                 finding.share < kMuch ? "Partly input-bound" : "Input-bound",
                                 percent_text(finding.share), which_loaders(job));
  if (const std::string_view detail = detail_words(finding); !detail.empty()) {
    text += fmt::format(", mostly because of {}", detail);
  }
  text += diagnose::line_words(finding) + what_to_do(advice) + no_promise(diagnosis, advice) + ".";
  if (!trains_on_host(diagnosis.signals) && !diagnosis.set_aside) {
    text += " How much of that a GPU idles was not observed.";
  }
  return text;
}

/// Of a log of nvidia-smi, which knows no job.
std::string of_log(const Diagnosis& diagnosis) {
  const diagnose::Signals& signals = diagnosis.signals;
  std::string text = "The log says nothing of how much the GPU is used";
  if (signals.gpu_utilisation_mean) {
    const std::string gpu = diagnosis.logged.of > 1
                                ? fmt::format("GPU {}, of {} the one that is used least,",
                                              diagnosis.logged.index, diagnosis.logged.of)
                                : "The GPU";
    text = fmt::format("{} runs something {} of the time", gpu,
                       percent_text(*signals.gpu_utilisation_mean));
  }
  const double heat = signals.thermal_slowdown_ratio.value_or(0);
  const double power = signals.power_cap_ratio.value_or(0);
  if (heat >= kHeldDown) {
    text += fmt::format(", and heat holds its clocks down {} of it", percent_text(heat));
  } else if (power >= kHeldDown) {
    text +=
        fmt::format(", and its power limit holds its clocks down {} of it", percent_text(power));
  }
  return text + "; why it idles, utilisation alone does not say, nor how well it is used.";
}

/// A job that loads by other means than torch's loader: what looks at its training thread tell.
std::string without_loader(const Diagnosis& diagnosis, const std::string& steps) {
  const diagnose::CodeTime& own = diagnosis.own_code;
  double training = 0;
  const diagnose::CodeShare* other = nullptr;  // the largest part that is not the training
  for (const diagnose::CodeShare& part : own.parts) {
    if (part.trains) training += part.share;
    if (!part.trains && !part.place.empty() && other == nullptr) other = &part;
  }
  if (own.looks >= kLooksMin && other != nullptr && other->share >= kMuch) {
    return fmt::format(
        "Held up by code of its own: {} of the training thread's time goes to {}, which is not the "
        "training itself. In {} no wait for a data loader of torch was seen.",
        percent_text(other->share), diagnose::code_words(*other), steps);
  }
  if (own.looks >= kLooksMin && training >= kMostly) {
    return fmt::format(
        "Not held up by loading: {} of the training thread's time is the training itself, most of "
        "it at {}. In {} no wait for a data loader of torch was seen.",
        percent_text(training), diagnose::code_words(own.parts.front()), steps);
  }
  return fmt::format(
      "In {} no wait for a data loader of torch was seen; whether loading by other means holds the "
      "job up cannot be said.",
      steps);
}

/// Of a trace whose GPU ran something.
std::string little_recorded(const Diagnosis& diagnosis, const std::string& steps) {
  if (diagnosis.set_aside->reason == job::AsideReason::kTooLittle) {
    return fmt::format("Too little is recorded to say why the GPU idles: {}, and no step boundary.",
                       what_gpu_ran(*diagnosis.set_aside));
  }
  return fmt::format(
      "In {} no wait for a data loader is recorded, so whether loading holds them up cannot be "
      "said.",
      steps);
}

/// How it would be observed stands in what_was_not_observed().
std::string nothing_known(const Diagnosis& diagnosis) {
  const std::string steps =
      diagnosis.steps.count == 1 ? "1 step" : fmt::format("{} steps", diagnosis.steps.count);
  if (diagnosis.input == trace::InputKind::kKineto || diagnosis.input == trace::InputKind::kNsys) {
    if (diagnosis.set_aside) return little_recorded(diagnosis, steps);
    return fmt::format(
        "No GPU activity is recorded, only the host's side of {}, so why a GPU idles cannot be "
        "said.",
        steps);
  }
  if (diagnosis.input == trace::InputKind::kCsv) return of_log(diagnosis);
  if (diagnosis.steps.count == 0) {
    return "No training step was seen, so what holds the job up cannot be said.";
  }
  return without_loader(diagnosis, steps);
}

/// What would be observed of a GPU that ran something, and too little.
NotObserved for_unused(const Diagnosis& diagnosis) {
  const bool run = diagnosis.input == trace::InputKind::kRun;
  if (diagnosis.set_aside->reason == job::AsideReason::kTooLittle) {
    return {.what = "Enough GPU activity",
            .why = "no steps, and " + what_gpu_ran(*diagnosis.set_aside),
            .how = run ? "let the job train for longer"
                       : "record several steps of the training, each marked as one"};
  }
  return {.what = "Training on the GPU",
          .why = trains_on_host(diagnosis.signals) ? "this job trains on the CPU"
                                                   : "it runs less than one operation a step",
          .how = "move model and batches to the GPU with .to(\"cuda\")"};
}

NotObserved for_device(const Diagnosis& diagnosis, const trace::TrainingDevice& device) {
  NotObserved gpu{.what = "GPU activity", .why = {}, .how = {}};
  const bool rocm = device.build == "rocm";
  if (diagnosis.input == trace::InputKind::kCsv) {
    gpu.why = "a log of nvidia-smi has samples of the whole GPU only";
    gpu.how = "watch the job itself: `unstarve run -- COMMAND`";
  } else if (diagnosis.input == trace::InputKind::kNsys) {
    gpu.why = "the export holds no GPU operation";
    gpu.how = "record with `nsys profile --trace=cuda,nvtx`";
  } else if (diagnosis.input == trace::InputKind::kKineto && device.kind.empty()) {
    gpu.why = "the trace holds no GPU operation";
    gpu.how = "record with ProfilerActivity.CUDA on a machine with a GPU";
  } else if (device.kind == "cpu") {
    gpu.why = "this job trains on the CPU";
    gpu.how = diagnosis.signals.gpu_utilisation_mean
                  ? "move model and batches to this machine's GPU with .to(\"cuda\")"
                  : "it is where a job uses CUDA, on a GPU or an emulated one (--emulate a100)";
  } else if (device.kind == "cuda" && !device.unwatched.empty()) {
    gpu.why = device.unwatched;
    gpu.how = "run the job without that";
  } else if (device.kind == "cuda" && diagnosis.steps.count < kStepsForWindow) {
    gpu.why = fmt::format("the job ended before its {} was watched, from the 10th step on",
                          rocm ? "AMD GPU" : "GPU");
    gpu.how = fmt::format("let it make {} steps", kStepsForWindow);
  } else if (device.kind == "cuda") {
    gpu.why = rocm ? "ROCm gave no records" : "the driver gave no records";
    gpu.how = "`unstarve doctor` says what can be observed here";
  } else if (!device.kind.empty()) {
    gpu.why = fmt::format("this job trains on PyTorch's \"{}\", of which no records are kept",
                          device.kind);
    gpu.how = "the shares are those of the training thread alone";
  } else {
    gpu.why = diagnosis.steps.count == 0 ? "no training step was seen" : "no CUDA in this job";
    gpu.how = "`unstarve doctor` says what can be observed here";
  }
  return gpu;
}

}  // namespace

bool hardly_waits(const Diagnosis& diagnosis) {
  return !diagnosis.partition && diagnosis.thread_time &&
         (*diagnosis.thread_time).input_wait < kWorthARemedy;
}

std::string write_host_verdict(const Diagnosis& diagnosis, const Advice& advice,
                               const JobFacts& job) {
  std::string text;
  if (hardly_waits(diagnosis)) {
    text = not_input_bound(diagnosis, job);
  } else if (advice.leading_finding) {
    text = input_bound(diagnosis, advice, job);
  } else {
    text = nothing_known(diagnosis);
    if (!diagnosis.set_aside) return text;
  }
  return text + unused_gpu(diagnosis);
}

std::vector<NotObserved> what_was_not_observed(const Diagnosis& diagnosis, const JobFacts& job) {
  if (diagnosis.partition) return {};
  if (diagnosis.set_aside) return {for_unused(diagnosis)};
  return {for_device(diagnosis, job.device)};
}

}  // namespace unstarve::advise
