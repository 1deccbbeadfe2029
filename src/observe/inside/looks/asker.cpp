#include "observe/inside/looks/asker.h"

#include <ctime>

#include "base/units.h"

namespace unstarve::looks {

namespace {

constexpr unsigned long kHurriedUs = 50;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

/// libstdc++'s condition variables need a newer C library than jobs may have, to wait by this
/// clock.
class Held {
 public:
  explicit Held(pthread_mutex_t& mutex) : mutex_(mutex) { ::pthread_mutex_lock(&mutex_); }
  ~Held() { ::pthread_mutex_unlock(&mutex_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

Asker::Asker(const UnstarvePython& python) : python_(python) {
  constexpr std::array<const char*, 4> kFacts = {"f_code", "f_lasti", "f_lineno", "f_globals"};
  for (std::size_t i = 0; i < kFacts.size(); ++i) facts_[i] = python_.intern(kFacts[i]);
  back_ = python_.intern("f_back");
  pthread_condattr_t monotonic;
  ::pthread_condattr_init(&monotonic);
  ::pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  ::pthread_cond_init(&changed_, &monotonic);
  ::pthread_condattr_destroy(&monotonic);
}

std::int64_t Asker::begin() {
  const Held held(mutex_);
  return ++number_;
}

void Asker::stop() {
  const Held held(mutex_);
  ++number_;
  take_time();  // The job may be about to fork.
  ::pthread_cond_broadcast(&changed_);
}

std::int64_t Asker::wait(std::int64_t number, std::int64_t delay_ns, std::uint64_t thread) {
  const std::int64_t until_ns = now_ns() + delay_ns;
  const timespec until{until_ns / kSecondNs, until_ns % kSecondNs};
  const Held held(mutex_);
  while (number_ == number && now_ns() < until_ns) {
    ::pthread_cond_timedwait(&changed_, &mutex_, &until);
  }
  if (number_ != number) return 0;
  const std::int64_t asked_ns = now_ns();
  if (thread != 0) ask(thread);
  return asked_ns;
}

/// What is still pending of an earlier question answers this one. Where Python takes no more of
/// what is pending, or 3.12 has another thread do it, nobody answers, and the caller looks by
/// itself.
void Asker::ask(std::uint64_t thread) {
  if (python_.set_switch_interval != nullptr) return hurry();
  wanted_.store(thread);
  if (pending_.exchange(true)) return;
  const int refused =
      python_.add_pending_call_in != nullptr
          ? python_.add_pending_call_in(python_.main_interpreter(), &answer_asker, this, 0)
          : python_.add_pending_call(&answer_asker, this);
  if (refused != 0) pending_.store(false);
}

void Asker::hurry() {
  const unsigned long interval_us = python_.switch_interval();
  if (interval_us <= kHurriedUs) return;
  unhurried_us_ = interval_us;
  python_.set_switch_interval(kHurriedUs);
}

/// The interval is as it was, unless the job has set another one meanwhile.
void Asker::take_time() {
  if (unhurried_us_ != 0 && python_.switch_interval() == kHurriedUs) {
    python_.set_switch_interval(unhurried_us_);
  }
  unhurried_us_ = 0;
}

int Asker::answer_asker(void* asker) {
  static_cast<Asker*>(asker)->answer();
  return 0;
}

void Asker::answer() {
  pending_.store(false);
  const bool wanted = wanted_.exchange(0) == static_cast<std::uint64_t>(::pthread_self());
  if (!wanted || answer_ != nullptr) return;
  void* const frame = python_.current_frame();
  if (frame != nullptr) python_.hold(frame);
  answer_ = facts_of(frame);
}

void* Asker::take() {
  {
    const Held held(mutex_);
    take_time();
  }
  void* const taken = answer_;
  answer_ = nullptr;
  wanted_.store(0);
  return taken != nullptr ? taken : python_.list_new(0);
}

/// Making frames' objects may begin a garbage collection, whose callbacks are Python and give the
/// lock away.
void* Asker::look_at(void* current_frames, void* thread) const {
  const bool collects = python_.disable_collection != nullptr && python_.disable_collection() != 0;
  void* const frames = python_.call(current_frames, nullptr);
  void* const frame = frames != nullptr ? python_.item(frames, thread) : nullptr;
  void* facts = nullptr;
  if (frame != nullptr) {
    facts = facts_of(frame);
  } else {
    python_.forget_error();
  }
  if (frames != nullptr) python_.let_go(frames);
  if (collects) python_.enable_collection();
  if (facts != nullptr) return facts;
  python_.hold(python_.none);
  return python_.none;
}

/// Of a frame that is held, or null, and those around it; lets go of it. Null, and no error of
/// Python's, where something failed.
void* Asker::facts_of(void* frame) const {
  void* const list = python_.list_new(0);
  bool whole = list != nullptr && frame != nullptr;
  for (int depth = 0; whole && frame != python_.none && depth < kUnstarveLooksDeepest; ++depth) {
    void* const back = add_facts(list, frame) ? python_.attribute(frame, back_) : nullptr;
    python_.let_go(frame);
    frame = back;
    whole = frame != nullptr;
  }
  if (frame != nullptr) python_.let_go(frame);
  if (whole) return list;
  python_.forget_error();
  if (list != nullptr) python_.let_go(list);
  return nullptr;
}

bool Asker::add_facts(void* list, void* frame) const {
  for (void* const name : facts_) {
    void* const fact = python_.attribute(frame, name);
    if (fact == nullptr) return false;
    const int failed = python_.list_append(list, fact);
    python_.let_go(fact);
    if (failed != 0) return false;
  }
  return true;
}

}  // namespace unstarve::looks
