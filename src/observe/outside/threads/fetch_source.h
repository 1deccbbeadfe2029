#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "host/thread_look.h"
#include "observe/outside/samples/source.h"
#include "trace/store/run_rows.h"

namespace unstarve::observe {

/// What threads do while they fetch batches: one look at each of them per tick, of which those
/// within a fetch are counted. Which these are is known when the hook has told of the fetch, so
/// that a worker which waits for its next order does not count. Subject `job`.
///
/// Costs one or two small files per thread and tick, of at most kMostLooks threads a tick: where
/// there are more, they take turns.
class FetchSource final : public Source {
 public:
  explicit FetchSource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "fetch"; }
  void sample(const Tick& tick, SampleBook& book) override;

  /// A fetch that has ended; its thread is looked at from now on.
  void note(const trace::FetchRow& fetch);

  static constexpr std::size_t kMostLooks = 16;

 private:
  struct Look {
    std::int64_t at_ns = 0;
    host::ThreadDoing doing = host::ThreadDoing::kOther;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, thread
  using Threads = std::map<Key, std::deque<Look>>;    // looks that no fetch was told of yet

  void look_at_threads(std::int64_t now_ns);
  void write(SampleBook& book);

  const host::HostFiles& files_;
  Threads threads_;
  Key next_;  // whose turn it is
  std::array<std::int64_t, host::kThreadDoings> counts_ = {};
  Reading<double> refused_;  // why the latest look showed nothing; kNotObserved: none was refused
};

}  // namespace unstarve::observe
