#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "observe/inside/looks/looks.h"

namespace unstarve::looks {

/// Sees to it that pure Python is looked at as it runs. A look by another thread waits for Python's
/// lock, which the running thread gives away in an operation, or after an interval of 5 ms: pure
/// Python would be seen as the operation behind it. So the running thread is asked itself, by what
/// is pending, or (up to Python 3.11, which tells only the asking thread of that) the interval is
/// short for as long as the look waits.
///
/// What happens with Python's lock (answer, take) needs no other; the rest has its own.
class Asker {
 public:
  explicit Asker(const UnstarvePython& python);
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  std::int64_t begin();
  void stop();
  /// The time at which the wait ended; 0 where it was stopped.
  std::int64_t wait(std::int64_t number, std::int64_t delay_ns, std::uint64_t thread);
  void* take();
  void* look_at(void* current_frames, void* thread) const;

 private:
  void ask(std::uint64_t thread);
  void hurry();
  void take_time();
  static int answer_asker(void* asker);
  void answer();
  void* facts_of(void* frame) const;
  bool add_facts(void* list, void* frame) const;

  const UnstarvePython python_;
  std::array<void*, 4> facts_ = {};  // names of a frame's attributes, in the answer's order
  void* back_ = nullptr;
  void* answer_ = nullptr;                // a list of ours
  std::atomic<std::uint64_t> wanted_{0};  // whose answer
  // Python's list of what is pending is short, and others use it: one question at a time.
  std::atomic<bool> pending_{false};

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;
  std::int64_t number_ = 0;
  unsigned long unhurried_us_ = 0;  // the interval that was; 0: it is not ours
};

}  // namespace unstarve::looks
