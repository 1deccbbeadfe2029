// What the driver and the Python hook call. Nothing is printed and nothing is thrown: this is in
// somebody else's program.
#include "observe/inside/cupti/injection.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "observe/inside/cupti/recorder.h"

namespace unstarve::recording {

namespace {

/// Never destroyed: CUPTI may call back until the very end.
struct Process {
  std::atomic<bool> asked{false};
  std::atomic<Recorder*> recorder{nullptr};
  std::atomic<int> early_pauses{0};  // before there was a recorder
  Mutex mutex;
  std::string why_not UNSTARVE_GUARDED_BY(mutex) = "CUDA was not initialised";
};

Process& process() {
  static Process& only = *std::make_unique<Process>().release();
  return only;
}

void explain(const std::string& why) {
  MutexLock lock(process().mutex);
  process().why_not = why;
}

void end_recording() {
  if (Recorder* const recorder = process().recorder.load()) recorder->end();
}

void forget_in_child() {
  process().recorder.store(nullptr);
  Recorder::forget_after_fork();
}

void begin() {
  const char* const run = std::getenv("UNSTARVE_RUN_DIR");
  if (run == nullptr || *run == '\0') return explain("this is no run of unstarve's");
  const WindowPlan plan = read_window_plan(std::getenv("UNSTARVE_CUPTI"));
  if (plan.off) return explain("UNSTARVE_CUPTI is off");
  const Result<CuptiFunctions> functions = find_cupti();
  if (!functions) return explain(functions.error().message);
  auto made = std::make_unique<Recorder>(
      *functions, Recorder::Options{.rings_folder = std::string(run) + "/rings",
                                    .plan = plan,
                                    .pauses = process().early_pauses.load()});
  // Not to be destroyed, even where it did not start: CUPTI may have its addresses.
  Recorder* const recorder = made.release();
  if (const Status started = recorder->start(); !started) return explain(started.error().message);
  process().recorder.store(recorder);
  ::pthread_atfork(nullptr, nullptr, forget_in_child);
  std::atexit(end_recording);
}

/// Nothing leaves: it can only be the memory that is short.
template <class Body>
void guarded(Body body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace

}  // namespace unstarve::recording

using namespace unstarve;
using namespace unstarve::recording;

int InitializeInjection() {
  guarded([] {
    if (!process().asked.exchange(true)) begin();
  });
  return 1;
}

void unstarve_cupti_pause() {
  guarded([] {
    if (Recorder* const recorder = process().recorder.load()) return recorder->pause();
    ++process().early_pauses;
  });
}

void unstarve_cupti_resume() {
  guarded([] {
    if (Recorder* const recorder = process().recorder.load()) return recorder->resume();
    --process().early_pauses;
  });
}

void unstarve_cupti_steps_began() {
  guarded([] {
    if (Recorder* const recorder = process().recorder.load()) recorder->steps_began();
  });
}

void unstarve_cupti_step_takes(std::int64_t step_ns) {
  guarded([step_ns] {
    if (Recorder* const recorder = process().recorder.load()) recorder->step_takes(step_ns);
  });
}

int unstarve_cupti_state(char* text, std::size_t size) {
  int recording = 0;
  guarded([&] {
    Recorder* const recorder = process().recorder.load();
    std::string why;
    if (recorder != nullptr) {
      why = recorder->failure();
    } else {
      MutexLock lock(process().mutex);
      why = process().why_not;
    }
    recording = recorder != nullptr && why.empty() ? 1 : 0;
    if (text == nullptr || size == 0) return;
    const std::size_t length = std::min(why.size(), size - 1);
    std::memcpy(text, why.data(), length);
    text[length] = '\0';
  });
  return recording;
}
