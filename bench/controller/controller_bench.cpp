// How well the loader's controller follows a GPU whose demand changes, beside a program that takes
// CPUs now and then. The GPU is emulated: a batch keeps it busy for batch size / demand.
//
//   controller_bench IMAGE_FOLDER [--most-threads N] [--phase-s S] [--low R] [--high R] [--hogs N]
//                    [--size PIXELS] [--batch N]
//
// First it measures what 1, 2, ... N fixed threads load, without and with the hogs; then it plays
// the phases with threads left to the controller. The first 5 s of each phase are left out. Prints
// one JSON object; exit code 3 when a phase misses 90 % of the possible AU or takes more than 1.25
// times the least threads that suffice.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "feed/pipeline/loader.h"

namespace {

using namespace unstarve;
using namespace std::chrono_literals;

constexpr double kSettleS = 5.0;
constexpr double kCalibrationS = 2.0;

struct Settings {
  std::string folder;
  std::map<std::string, double> numbers = {
      {"--most-threads", 0}, {"--phase-s", 20}, {"--low", 200}, {"--high", 2000},
      {"--hogs", 1},         {"--size", 224},   {"--batch", 32}};
  double number(const char* name) const { return numbers.at(name); }
  int whole(const char* name) const { return static_cast<int>(number(name)); }
};

bool parse(int argc, char** argv, Settings& settings) {
  if (argc < 2 || argc % 2 != 0) return false;
  settings.folder = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const auto found = settings.numbers.find(argv[i]);
    if (found == settings.numbers.end()) return false;
    found->second = std::atof(argv[i + 1]);
  }
  if (settings.number("--most-threads") < 1) {
    settings.numbers["--most-threads"] = feed::usable_cpu_count();
  }
  return settings.number("--phase-s") > kSettleS;
}

/// Processes that do nothing but use a CPU each; asleep until they are let loose.
class Hogs {
 public:
  explicit Hogs(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) spin();
      if (child > 0) children_.push_back(child);
    }
    loose(false);
  }
  ~Hogs() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

  void loose(bool on) const {
    for (const pid_t child : children_) ::kill(child, on ? SIGCONT : SIGSTOP);
  }

 private:
  [[noreturn]] static void spin() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned turns = 0;;) turns = turns + 1;
  }
  std::vector<pid_t> children_;
};

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "controller_bench: {}\n", error.message);
  std::exit(2);
}

feed::LoaderOptions options_of(const Settings& settings, int threads) {
  feed::LoaderOptions options;
  options.root = settings.folder;
  options.skip_other_formats = true;
  options.transform = feed::training_crop(settings.whole("--size"));
  options.batch_size = settings.whole("--batch");
  options.threads = threads;
  options.max_threads = settings.whole("--most-threads");
  options.prefetch_next_epoch = true;
  return options;
}

/// A consumer that takes batches for ever.
class Consumer {
 public:
  Consumer(const Settings& settings, int threads) {
    auto opened = feed::Loader::open(options_of(settings, threads));
    if (!opened) give_up(opened.error());
    loader_ = std::move(*opened);
    begin();
  }
  feed::Loader& loader() { return *loader_; }

  /// Images of the next batch.
  int take() {
    for (;;) {
      const Result<feed::NextBatch> next = loader_->next(1s);
      if (!next) give_up(next.error());
      if (next->state == feed::NextState::kBatch) return next->batch->count;
      if (next->state == feed::NextState::kEnd) begin();
    }
  }

 private:
  void begin() {
    if (const Status begun = loader_->begin_epoch(epoch_++); !begun) give_up(begun.error());
  }
  std::unique_ptr<feed::Loader> loader_;
  std::uint32_t epoch_ = 0;
};

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Images per second of so many threads when nobody holds them back.
double measure_supply(const Settings& settings, int threads) {
  const SteadyClock clock;
  Consumer consumer(settings, threads);
  for (int i = 0; i < 8; ++i) consumer.take();  // what was decoded before the clock started
  const std::int64_t begun_ns = clock.now_ns();
  int images = 0;
  while (seconds(clock.now_ns() - begun_ns) < kCalibrationS) images += consumer.take();
  return images / seconds(clock.now_ns() - begun_ns);
}

struct Phase {
  double demand = 0;
  bool hog = false;
  double au = 0;
  double threads = 0;
};

void play(Consumer& consumer, Phase& phase, double phase_s) {
  SteadyClock clock;
  const std::int64_t begun_ns = clock.now_ns();
  double busy_s = 0;
  double wait_s = 0;
  double thread_s = 0;
  std::int64_t at_ns = begun_ns;
  while (seconds(at_ns - begun_ns) < phase_s) {
    const int images = consumer.take();
    const std::int64_t got_ns = clock.now_ns();
    clock.sleep_until_ns(got_ns + static_cast<std::int64_t>(images * 1e9 / phase.demand));
    const std::int64_t done_ns = clock.now_ns();
    if (seconds(at_ns - begun_ns) >= kSettleS) {
      wait_s += seconds(got_ns - at_ns);
      busy_s += seconds(done_ns - got_ns);
      thread_s += consumer.loader().thread_count() * seconds(done_ns - at_ns);
    }
    at_ns = done_ns;
  }
  phase.au = busy_s / (busy_s + wait_s);
  phase.threads = thread_s / (busy_s + wait_s);
}

/// Prints a phase; whether it held.
bool report(const Phase& phase, const std::vector<double>& supply, bool last) {
  const double most = *std::max_element(supply.begin(), supply.end());
  const double possible = std::min(1.0, most / phase.demand);
  const double wanted = std::min(phase.demand, 0.98 * most);
  const auto enough = std::find_if(supply.begin(), supply.end(),
                                   [&](double images_per_s) { return images_per_s >= wanted; });
  const auto least = enough - supply.begin() + 1;
  const bool held =
      phase.au >= 0.9 * possible && phase.threads <= 1.25 * static_cast<double>(least);
  fmt::print(
      "    {{\"demand_images_per_s\": {:.0f}, \"hog\": {}, \"au\": {:.3f}, \"possible_au\": "
      "{:.3f}, "
      "\"threads\": {:.2f}, \"least_threads\": {}, \"held\": {}}}{}\n",
      phase.demand, phase.hog, phase.au, possible, phase.threads, least, held, last ? "" : ",");
  return held;
}

int run(const Settings& settings) {
  const Hogs hogs(settings.whole("--hogs"));  // before any thread exists
  std::map<bool, std::vector<double>> supply;
  for (int threads = 1; threads <= settings.whole("--most-threads"); ++threads) {
    for (const bool hog : {false, true}) {
      hogs.loose(hog);
      supply[hog].push_back(measure_supply(settings, threads));
    }
  }
  const double low = settings.number("--low");
  const double high = settings.number("--high");
  std::vector<Phase> phases = {{low, false},
                               {high, false},
                               {high, true},
                               {low, true},
                               {low, false},
                               {(low + high) / 2, false},
                               {(low + high) / 2, true}};
  Consumer consumer(settings, 0);
  for (Phase& phase : phases) {
    hogs.loose(phase.hog);
    play(consumer, phase, settings.number("--phase-s"));
  }
  fmt::print("{{\n  \"supply_images_per_s\": {{\"alone\": [{:.0f}], \"beside_hogs\": [{:.0f}]}},\n",
             fmt::join(supply[false], ", "), fmt::join(supply[true], ", "));
  fmt::print("  \"phases\": [\n");
  bool all_held = true;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    all_held &= report(phases[i], supply[phases[i].hog], i + 1 == phases.size());
  }
  fmt::print("  ],\n  \"held\": {}\n}}\n", all_held);
  for (const feed::ControlMove& move : consumer.loader().explain()) {
    fmt::print(stderr, "{:9.2f} s  {} {} -> {}: {}\n", seconds(move.time_ns),
               move.what == feed::ControlMove::What::kThreads ? "threads" : "prefetch", move.from,
               move.to, move.reason);
  }
  return all_held ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    fmt::print(stderr,
               "usage: controller_bench IMAGE_FOLDER [--most-threads N] [--phase-s S, above 5] "
               "[--low R] [--high R] [--hogs N] [--size PIXELS] [--batch N]\n");
    return 2;
  }
  return run(settings);
}
