// What samples of its code cost a thread: the time of a piece of work with them and without, in
// stretches of a second that alternate. In the first half the thread only computes; in the second
// it goes to sleep after each piece, since the kernel sets a timer anew at each switch of threads.
//
//   code_samples_cost [PAIRS]
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "host/code_samples.h"

namespace {

using namespace unstarve;
using namespace std::chrono_literals;

constexpr std::int64_t kPeriodNs = 20'000'000;  // as SamplerOptions has it

/// Shared with the child.
struct Work {
  std::atomic<std::uint64_t> pieces{0};
  std::atomic<bool> sleeps{false};
};

[[noreturn]] void work_for_ever(Work& work) {
  for (std::uint64_t state = 1;; work.pieces.fetch_add(1, std::memory_order_relaxed)) {
    for (int i = 0; i < 20'000; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
    if (state == 0) std::abort();  // so that it is computed
    if (work.sleeps.load(std::memory_order_relaxed)) std::this_thread::sleep_for(1us);
  }
}

/// Pieces a second, in one.
double rate(const Work& work) {
  const std::uint64_t before = work.pieces.load();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(1s);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(work.pieces.load() - before) / taken.count();
}

/// By how much a piece takes longer with samples, in percent; nothing where they are forbidden.
std::optional<double> difference(const Work& work, pid_t child, bool sampled_first) {
  double with = 0;
  double without = 0;
  for (const bool sampled : {sampled_first, !sampled_first}) {
    auto samples = sampled ? host::open_code_samples(child, kPeriodNs)
                           : Result<std::unique_ptr<host::CodeSamples>>(nullptr);
    if (!samples) return std::nullopt;
    (sampled ? with : without) = rate(work);
  }
  return 100 * (without / with - 1);
}

void print(const char* name, std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  const std::size_t count = differences.size();
  fmt::print("{}: {:+.2f} % (quartiles {:+.2f} to {:+.2f}, {} pairs)\n", name,
             differences[count / 2], differences[count / 4], differences[3 * count / 4], count);
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  void* const shared =
      ::mmap(nullptr, sizeof(Work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  Work& work = *new (shared) Work;
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) work_for_ever(work);
  bool allowed = true;
  for (const bool sleeps : {false, true}) {
    work.sleeps = sleeps;
    std::vector<double> differences;
    for (int i = 0; i < pairs && allowed; ++i) {
      const auto measured = difference(work, child, i % 2 == 0);
      allowed = measured.has_value();
      if (measured) differences.push_back(*measured);
    }
    if (!allowed) break;
    if (sleeps) fmt::print("{:.0f} switches of threads a second: ", rate(work));
    print(sleeps ? "sleeps after each piece" : "computes", differences);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!allowed) std::fputs("code_samples_cost: samples are forbidden here\n", stderr);
  return allowed ? 0 : 1;
}
