#include "observe/outside/threads/fetch_source.h"

#include <algorithm>

namespace unstarve::observe {

namespace {

// A fetch longer than so many ticks is judged by its last ones.
constexpr std::size_t kMostUndecided = 600;

constexpr std::string_view kSource = "/proc/PID/task/TID/syscall";
constexpr std::array<MetricDescriptor, host::kThreadDoings> kLooks = {{
    {"job.fetch_looks_on_cpu", "count", kSource,
     "looks at threads within a fetch that ran or were ready to"},
    {"job.fetch_looks_in_files", "count", kSource,
     "looks at threads within a fetch that waited in a call on a file, or for a page of one"},
    {"job.fetch_looks_in_network", "count", kSource,
     "looks at threads within a fetch that waited for a socket, or in poll and its like"},
    {"job.fetch_looks_asleep", "count", kSource,
     "looks at threads within a fetch that slept for a time of their own choice"},
    {"job.fetch_looks_in_locks", "count", kSource,
     "looks at threads within a fetch that waited for other threads of the job"},
    {"job.fetch_looks_elsewhere", "count", kSource,
     "looks at threads within a fetch that waited for anything else"},
}};

}  // namespace

void FetchSource::note(const trace::FetchRow& fetch) {
  std::deque<Look>& looks = threads_[{fetch.pid, fetch.thread}];
  // Looks before this fetch were none at a fetch: a thread's fetches are told of in their order.
  while (!looks.empty() && looks.front().at_ns < fetch.when.end_ns) {
    if (looks.front().at_ns >= fetch.when.start_ns) {
      ++counts_[static_cast<std::size_t>(looks.front().doing)];
    }
    looks.pop_front();
  }
}

void FetchSource::sample(const Tick& tick, SampleBook& book) {
  look_at_threads(tick.now_ns);
  if (tick.full_second) write(book);
}

void FetchSource::look_at_threads(std::int64_t now_ns) {
  auto thread = threads_.lower_bound(next_);
  for (std::size_t left = std::min(kMostLooks, threads_.size()); left > 0; --left) {
    if (thread == threads_.end()) thread = threads_.begin();
    const auto [pid, tid] = thread->first;
    const Reading<host::ThreadDoing> doing = host::look_at_thread(files_, pid, tid);
    if (!doing && doing.why_absent() == WhyAbsent::kNotObserved) {  // it has ended
      thread = threads_.erase(thread);
      continue;
    }
    if (doing) {
      thread->second.push_back({now_ns, *doing});
      if (thread->second.size() > kMostUndecided) thread->second.pop_front();
    } else {
      refused_ = doing.why_absent();
    }
    ++thread;
  }
  next_ = thread == threads_.end() ? Key() : thread->first;
}

void FetchSource::write(SampleBook& book) {
  const bool seen =
      std::any_of(counts_.begin(), counts_.end(), [](auto count) { return count > 0; });
  const bool was_refused = refused_.why_absent() != WhyAbsent::kNotObserved;
  if (seen || was_refused) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      book.put(kLooks[i], "job",
               seen ? Reading<double>(static_cast<double>(counts_[i])) : refused_);
    }
  }
  counts_ = {};
  refused_ = {};
}

}  // namespace unstarve::observe
