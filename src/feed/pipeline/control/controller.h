#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unstarve::feed {

/// What was measured between two decisions.
struct ControlWindow {
  std::int64_t end_ns = 0;  // on the loader's clock
  std::int64_t length_ns = 0;
  std::int64_t consumer_wait_ns = 0;  // it had asked, and no batch was ready
  std::int64_t consumer_busy_ns = 0;  // from getting a batch to asking for the next,
  std::uint64_t consumer_images = 0;  // and the images of those batches
  std::uint64_t loaded_images = 0;
  std::int64_t load_ns = 0;      // that threads spent loading them, added up
  std::int64_t load_cpu_ns = 0;  // of it on a CPU
  int most_threads = 1;          // CPUs that the process may use now
};

/// One decision, and why.
struct ControlMove {
  enum class What { kThreads, kPrefetch };
  std::int64_t time_ns = 0;  // on the loader's clock
  What what = What::kThreads;
  int from = 0;
  int to = 0;
  std::string reason;  // in numbers
};

/// One line: "threads 1 -> 2: the consumer waited 12 % of the time".
std::string describe(const ControlMove& move);

/// Decides how many threads load and how many batches lie ready, so that the consumer waits less
/// than 1 % of its time (fed) at the least CPU. Two rates say how many threads are needed: what the
/// consumer would take if it never waited, and what one thread loads while it loads. Where the
/// consumer waits although they should be enough, more batches are kept ready, then one thread more
/// is tried. A move that turns out to help nothing, or to starve the consumer, is undone and not
/// repeated for a while that doubles each time.
/// Pure: it knows what it is told, and no clock. Thread rule: none.
class Controller {
 public:
  struct Settings {
    bool threads = true;   // may be changed
    bool prefetch = true;  // may be changed
    int first_threads = 1;
    int first_prefetch = 2;
    int most_prefetch = 2;  // that the memory holds
    int batch_size = 1;
  };
  explicit Controller(const Settings& settings);

  /// The moves that follow from a window; none, most of the time.
  std::vector<ControlMove> step(const ControlWindow& window);

  int threads() const { return threads_; }
  int prefetch() const { return prefetch_; }

 private:
  /// Images per second over the last windows, some five of them. A jump is believed when a second
  /// window confirms it: consumers take batches in bursts.
  class Rate {
   public:
    void add(std::uint64_t images, std::int64_t ns);
    double per_second() const { return ns_ > 0 ? images_ * 1e9 / ns_ : 0; }

   private:
    double images_ = 0;
    double ns_ = 0;
    int side_ = 0;  // of the last window: +1 far above, -1 far below
  };
  /// A number of threads that was tried in vain, and is not tried again for a while.
  struct Lesson {
    int threads = 0;  // 0: none
    std::int64_t until_ns = 0;
    std::int64_t hold_ns = 0;
    double measured = 0;  // what it was learnt from; void once that is another
  };

  void measure(const ControlWindow& window);
  /// Threads that the consumer needs: as things are, and if none of them had to wait.
  int needed() const;
  int needed_at_best() const;
  double need() const;
  bool too_few_holds(const ControlWindow& window) const;
  bool too_many_holds(const ControlWindow& window) const;
  static void learn(Lesson& lesson, int threads, double measured, std::int64_t now_ns);
  void obey_limits(const ControlWindow& window);
  void judge_last_move(const ControlWindow& window);
  void raise(const ControlWindow& window);
  void lower(const ControlWindow& window);
  void set_threads(int to, const ControlWindow& window, std::string reason);
  void set_prefetch(int to, const ControlWindow& window, std::string reason);
  std::string rates() const;

  const Settings settings_;
  int threads_;
  int prefetch_;
  Rate demand_;        // what the consumer would take if it never waited
  Rate rate_;          // of one thread while it loads
  double on_cpu_ = 1;  // share of that time on a CPU
  double wait_ratio_ = 0;
  int most_threads_ = 1;
  int hungry_windows_ = 0;  // in a row: the consumer waited
  int calm_windows_ = 0;    // in a row: fewer threads needed than there are
  int most_needed_ = 0;     // in the calm windows
  int idle_windows_ = 0;    // in a row: with less competition fewer threads might do
  int settling_ = 0;        // windows until the last move can be judged
  int threads_before_ = 0;  // the last move; 0: judged
  double supply_before_ = 0;
  Lesson too_few_;   // starved the consumer, when so many threads were needed (measured)
  Lesson too_many_;  // loaded no more than fewer did: so many images/s (measured)
  std::vector<ControlMove> moves_;
};

}  // namespace unstarve::feed
