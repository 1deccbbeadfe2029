#include "observe/outside/threads/library_source.h"

#include <algorithm>

#include "base/units.h"

namespace unstarve::observe {

namespace {

// A fetch that takes more CPU time than so many samples is judged by its last ones.
constexpr std::size_t kMostUndecidedLooks = 600;
// A process with torch has some thousand lines of 100 bytes.
constexpr std::size_t kMapsBytesMax = std::size_t{16} << 20;
// Of all processes; whatever comes later counts as unknown.
constexpr std::size_t kMostLibraries = 4000;
constexpr const char* kUnknown = "unknown";

constexpr MetricDescriptor kLibraryLooks{
    "job.fetch_code_looks", "count", "perf_event_open",
    "samples of threads within a fetch that ran this file's code, outside of the kernel"};

/// The name of a mapped file.
std::string library_name(const std::string& path) {
  if (path.empty()) return "code made at run time";
  if (path.front() != '/') return path;
  constexpr std::string_view kDeleted = " (deleted)";
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(kDeleted)) name.resize(name.size() - kDeleted.size());
  return name;
}

/// The range that holds `address`; null where none does.
template <typename Range>
const Range* find(const std::vector<Range>& ranges, std::uint64_t address) {
  const auto after = std::partition_point(
      ranges.begin(), ranges.end(), [address](const Range& range) { return range.end <= address; });
  return after != ranges.end() && after->begin <= address ? &*after : nullptr;
}

}  // namespace

void LibrarySource::note(const trace::FetchRow& fetch) {
  const Key key = {fetch.pid, fetch.thread};
  const auto thread = threads_.find(key);
  if (thread == threads_.end()) {
    watch(key);
    return;
  }
  std::deque<Undecided>& samples = thread->second.undecided;
  while (!samples.empty() && samples.front().at_ns < fetch.when.end_ns) {
    if (samples.front().at_ns >= fetch.when.start_ns) ++counts_[samples.front().library];
    samples.pop_front();
  }
}

void LibrarySource::watch(const Key& key) {
  if (why_none_ != WhyAbsent::kNotObserved || threads_.size() >= kMostThreads) return;
  auto samples = open_(key.second);
  if (samples) {
    threads_.emplace(key, Thread{*std::move(samples)});
  } else if (samples.error().code == ErrorCode::kNoPermission) {
    why_none_ = WhyAbsent::kNoPermission;
  } else if (samples.error().code != ErrorCode::kNotFound) {  // else it has ended
    why_none_ = WhyAbsent::kNotSupported;
  }
}

void LibrarySource::sample(const Tick& tick, SampleBook& book) {
  for (auto& [key, thread] : threads_) {
    drained_.clear();
    thread.samples->drain(drained_);
    if (drained_.empty()) continue;
    Process& process = processes_[key.first];
    for (const host::CodeSample& sample : drained_) {
      const Library library = library_at(process, key.first, sample.address, tick.now_ns);
      thread.undecided.push_back({sample.t_ns, library});
      if (thread.undecided.size() > kMostUndecidedLooks) thread.undecided.pop_front();
    }
  }
  if (!tick.full_second) return;
  write(book);
  forget_what_ended();
}

void LibrarySource::finish(std::int64_t /*now_ns*/, SampleBook& book) { write(book); }

/// A process is read again when it runs code that it did not have, once a second at most.
LibrarySource::Library LibrarySource::library_at(Process& process, std::int64_t pid,
                                                 std::uint64_t address, std::int64_t now_ns) {
  const Range* range = find(process.code, address);
  if (range == nullptr && (process.read_ns < 0 || now_ns - process.read_ns >= kSecondNs)) {
    process.read_ns = now_ns;
    read_code(pid, process.code);
    range = find(process.code, address);
  }
  return range != nullptr ? range->library : index_of(kUnknown);
}

void LibrarySource::read_code(std::int64_t pid, std::vector<Range>& code) {
  const auto maps = files_.read("/proc/" + std::to_string(pid) + "/maps", kMapsBytesMax);
  if (!maps) return;  // it has ended: what was known of it stays
  code.clear();
  for (const host::CodeRange& range : host::parse_code_ranges(*maps)) {
    code.push_back({range.begin, range.end, index_of(library_name(range.path))});
  }
}

LibrarySource::Library LibrarySource::index_of(const std::string& name) {
  const auto found = libraries_.find(name);
  if (found != libraries_.end()) return found->second;
  if (names_.size() >= kMostLibraries && name != kUnknown) return index_of(kUnknown);
  const auto index = static_cast<Library>(names_.size());
  names_.push_back(name);
  counts_.push_back(0);
  libraries_.emplace(name, index);
  return index;
}

void LibrarySource::forget_what_ended() {
  std::erase_if(threads_, [](const auto& thread) { return thread.second.samples->has_ended(); });
  std::erase_if(processes_, [this](const auto& process) {
    const auto thread = threads_.lower_bound({process.first, 0});
    return thread == threads_.end() || thread->first.first != process.first;
  });
}

void LibrarySource::write(SampleBook& book) {
  if (why_none_ != WhyAbsent::kNotObserved) book.put(kLibraryLooks, "job", why_none_);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    book.put(kLibraryLooks, names_[i], static_cast<double>(counts_[i]));
    counts_[i] = 0;
  }
}

}  // namespace unstarve::observe
