#include "report/words/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <numeric>
#include <utility>

#include "advise/verdict.h"
#include "base/number_words.h"
#include "base/units.h"
#include "launch/emulation/roofline_range.h"

namespace unstarve::report {
namespace {

using diagnose::Partition;

constexpr std::array<ShareWord, 8> kShareWords = {{
    {"gpu_compute", &Partition::gpu_compute, "the GPU computes"},
    {"exposed_communication", &Partition::exposed_communication,
     "ranks exchange data while nothing computes"},
    {"exposed_copy", &Partition::exposed_copy, "data is copied while nothing computes"},
    {"input_wait", &Partition::input_wait, "the training thread waits for the data loader"},
    {"sync", &Partition::sync, "the host waited for the GPU, so its queue ran empty"},
    {"launch", &Partition::launch, "the host came too late with the next launch"},
    {"kernel_wait", &Partition::kernel_wait, "launched in time, started later"},
    {"other", &Partition::other, "idle, with no visible cause"},
}};

constexpr std::array<ShareWord, 3> kThreadWords = {{
    {"input_wait", nullptr, "the training thread waits for the data loader"},
    {"sync", nullptr, "it waits for the device"},
    {"own_work", nullptr, "the rest: its own work"},
}};

/// What a cause is called among people.
struct CauseWord {
  std::string_view cause;
  std::string_view words;
};
constexpr std::array<CauseWord, 8> kCauseWords = {{
    {"gpu_busy", "computing"},
    {"input_wait", "waiting for the data loader"},
    {"sync", "the host waits for the GPU"},
    {"launch", "work launched too late"},
    {"exposed_copy", "copies with nothing computed beside them"},
    {"exposed_communication", "communication with nothing computed beside it"},
    {"kernel_wait", "gaps between kernels launched in time"},
    {"other", "idle for a reason that was not recorded"},
}};

double usable(double weight) { return std::isfinite(weight) && weight > 0 ? weight : 0; }

bool same_partition(const Partition& a, const Partition& b) {
  return std::all_of(kShareWords.begin(), kShareWords.end(),
                     [&](const ShareWord& word) { return a.*word.share == b.*word.share; });
}

std::vector<RoundedShare> rounded(std::span<const ShareWord> words,
                                  std::span<const double> weights) {
  const std::vector<int> parts = apportion(weights, 1000);
  std::vector<RoundedShare> shares;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (parts[i] > 0) shares.push_back({&words[i], parts[i]});
  }
  return shares;
}

}  // namespace

std::span<const ShareWord> share_words() { return kShareWords; }

std::span<const ShareWord> thread_words() { return kThreadWords; }

std::vector<int> apportion(std::span<const double> weights, int total) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0,
                                     [](double s, double w) { return s + usable(w); });
  std::vector<int> parts(weights.size(), 0);
  if (!(sum > 0) || !std::isfinite(sum)) return parts;
  std::vector<double> remainders(weights.size());
  int left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double exact = usable(weights[i]) / sum * total;
    parts[i] = static_cast<int>(exact);
    remainders[i] = exact - parts[i];
    left -= parts[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; i < order.size() && left > 0; ++i, --left) ++parts[order[i]];
  return parts;
}

std::vector<RoundedShare> rounded_shares(const Partition& partition) {
  std::array<double, kShareWords.size()> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = partition.*kShareWords[i].share;
  return rounded(kShareWords, weights);
}

std::vector<RoundedShare> rounded_shares(const diagnose::ThreadTime& time) {
  return rounded(kThreadWords, std::array{time.input_wait, time.sync.value_or(0), time.own_work});
}

std::string_view input_kind_name(trace::InputKind kind) {
  switch (kind) {
    case trace::InputKind::kKineto: return "kineto";
    case trace::InputKind::kRun: return "run";
    case trace::InputKind::kNsys: return "nsys";
    case trace::InputKind::kCsv: return "csv";
  }
  return "kineto";
}

std::string_view confidence_name(diagnose::Confidence confidence) {
  return confidence == diagnose::Confidence::kClear ? "clear" : "ambiguous";
}

std::string_view why_words(WhyAbsent why) {
  switch (why) {
    case WhyAbsent::kNotSupported: return "not supported here";
    case WhyAbsent::kNoPermission: return "no permission";
    case WhyAbsent::kStale: return "too old to be used";
    case WhyAbsent::kNotObserved: return "not observed";
  }
  return "not observed";
}

std::string_view event_name(trace::HostWorkKind kind) {
  switch (kind) {
    case trace::HostWorkKind::kCollection: return "garbage_collection";
    case trace::HostWorkKind::kSave: return "save";
    case trace::HostWorkKind::kEmptyCache: return "empty_cache";
    case trace::HostWorkKind::kAllocationRetry: return "allocation_retry";
    case trace::HostWorkKind::kOutOfMemory: return "out_of_memory";
    case trace::HostWorkKind::kCompilation: return "compilation";
    case trace::HostWorkKind::kRecompilation: return "recompilation";
  }
  return "";
}

namespace {

/// Nothing for what is no news: collections and saved files are named where they cost time, and a
/// function is compiled once.
std::string_view words_of_event(trace::HostWorkKind kind) {
  switch (kind) {
    case trace::HostWorkKind::kEmptyCache: return "torch.cuda.empty_cache()";
    case trace::HostWorkKind::kAllocationRetry: return "GPU memory full, cache given back";
    case trace::HostWorkKind::kOutOfMemory: return "out of GPU memory";
    case trace::HostWorkKind::kRecompilation: return "torch.compile compiled again";
    default: return {};
  }
}

}  // namespace

std::string events_text(const diagnose::Diagnosis& diagnosis) {
  constexpr double kWorthAShare = 0.001;
  std::string text;
  for (const diagnose::NamedEvent& event : diagnosis.events) {
    const std::string_view words = words_of_event(event.kind);
    if (words.empty()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", words,
                        event.count == 1 ? "once" : fmt::format("{} times", event.count));
    if (!event.place.empty()) text += fmt::format(" ({})", event.place);
    if (event.share >= kWorthAShare)
      text += fmt::format(", {} of the time", percent_text(event.share));
  }
  return text;
}

std::string signal_name(std::int64_t number) {
  constexpr std::array<std::pair<int, std::string_view>, 16> kNames = {{
      {SIGHUP, "SIGHUP"},
      {SIGINT, "SIGINT"},
      {SIGQUIT, "SIGQUIT"},
      {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"},
      {SIGBUS, "SIGBUS"},
      {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"},
      {SIGUSR1, "SIGUSR1"},
      {SIGSEGV, "SIGSEGV"},
      {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"},
      {SIGALRM, "SIGALRM"},
      {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"},
  }};
  for (const auto& [signal, name] : kNames) {
    if (signal == number) return std::string(name);
  }
  return fmt::format("signal {}", number);
}

std::string finding_words(const diagnose::Finding& finding) {
  // A name that nobody gave words reads better without its underscores.
  const auto spaced = [](std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
  };
  const auto known =
      std::find_if(kCauseWords.begin(), kCauseWords.end(),
                   [&finding](const CauseWord& word) { return word.cause == finding.cause; });
  std::string text = known == kCauseWords.end() ? spaced(finding.cause) : std::string(known->words);
  if (finding.detail.empty()) return text;
  const std::string_view detail = advise::detail_words(finding);
  return text + ": " + (detail.empty() ? spaced(finding.detail) : std::string(detail));
}

std::string finding_title(const diagnose::Finding& finding) {
  return finding.detail.empty() ? finding.cause
                                : fmt::format("{} / {}", finding.cause, finding.detail);
}

std::string per_mille_text(int per_mille) {
  return fmt::format("{}.{} %", per_mille / 10, per_mille % 10);
}

bool is_emulated(const Report& report) {
  const auto& devices = report.diagnosis.devices;
  return report.facts.emulated ||
         std::any_of(devices.begin(), devices.end(),
                     [](const diagnose::DeviceDiagnosis& d) { return d.info.emulated; });
}

std::string device_text(const Report& report) {
  std::string name = report.facts.device;
  const diagnose::DeviceDiagnosis* device = shown_device(report.diagnosis);
  if (name.empty() && device != nullptr) name = device->info.name;
  if (!is_emulated(report)) return name;
  return name.empty() ? "emulated GPU" : name + " (emulated)";
}

std::string roofline_text(const Report& report) {
  if (!is_emulated(report) || report.facts.emulated_durations != "roofline") return {};
  return fmt::format("The emulated GPU's durations are by its data sheet: {}.",
                     launch::roofline_range_words());
}

std::string recorded_text(const diagnose::DeviceDiagnosis& device) {
  constexpr double kNearlyAll = 0.99;
  if (!device.recorded || device.recorded->recorded_us >= kNearlyAll * device.span_us) return {};
  const diagnose::RecordedTime& recorded = *device.recorded;
  return fmt::format("GPU recorded in {} of {}: {} window{}, {} steps.",
                     microseconds_text(recorded.recorded_us), microseconds_text(device.span_us),
                     recorded.windows, recorded.windows == 1 ? "" : "s",
                     number_text(recorded.steps));
}

std::vector<std::string> recording_notes(const diagnose::DeviceDiagnosis& device) {
  constexpr double kWorthSaying = 0.01;
  std::vector<std::string> notes;
  if (const std::string windows = recorded_text(device); !windows.empty()) {
    notes.push_back(windows);
    std::string alone;
    for (const RoundedShare& share : rounded_shares(device.recorded->partition)) {
      alone += fmt::format("{}{} {}", alone.empty() ? "" : ", ", share.word->name,
                           per_mille_text(share.per_mille));
    }
    notes.push_back(fmt::format(
        "In that time alone: {}. The shares of the whole time follow from these and from the waits "
        "for the loader, which are recorded in every step.",
        alone));
  }
  if (device.edge_busy_ratio >= kWorthSaying) {
    notes.push_back(
        fmt::format("{} of the recorded time, at its edges, counts as gpu_compute though no "
                    "operation is recorded there: the GPU had work from before, or did not finish "
                    "what had been launched.",
                    percent_text(device.edge_busy_ratio)));
  }
  return notes;
}

const diagnose::DeviceDiagnosis* shown_device(const diagnose::Diagnosis& diagnosis) {
  if (diagnosis.devices.empty()) return nullptr;
  if (diagnosis.partition) {
    for (const diagnose::DeviceDiagnosis& device : diagnosis.devices) {
      if (same_partition(device.partition, *diagnosis.partition)) return &device;
    }
  }
  return &diagnosis.devices.front();
}

std::string kept_text(const RunFacts& facts) {
  const KeptPart& kept = facts.kept;
  if (kept.one_slot_of <= 1) return {};
  std::string text = fmt::format(
      "The run was long: of each {} stretches of {:g} s one is kept step by step, drawn by lot ({} "
      "of {} steps). Counts, means and what was waited for the loader are of all steps.",
      kept.one_slot_of, kept.slot_s, kept.steps, facts.steps);
  if (kept.windows_left_out > 0) {
    text += fmt::format(" {} more windows of the GPU were recorded and not read.",
                        kept.windows_left_out);
  }
  return text;
}

}  // namespace unstarve::report
