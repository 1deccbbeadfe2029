#include "observe/outside/threads/library_source.h"

#include <algorithm>

namespace unstarve::observe {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// A fetch that takes more CPU time than so many samples is judged by its last ones.
constexpr std::size_t kMostUndecided = 600;
// A thread of which nothing was seen for so long has ended, or fetches nothing.
constexpr std::int64_t kKeptNs = 120 * kSecondNs;
// A process with torch has some thousand lines of 100 bytes.
constexpr std::size_t kMapsBytesMax = std::size_t{16} << 20;
// Names that a run gets; whatever comes later counts as one.
constexpr std::size_t kMostLibraries = 4000;
constexpr const char* kUnknown = "unknown";

constexpr MetricDescriptor kLooks{
    "job.fetch_code_looks", "count", "perf_event_open",
    "samples of threads within a fetch that ran this file's code, outside of the kernel"};

/// The name of a mapped file.
std::string library_name(const std::string& path) {
  if (path.empty() || path.front() != '/') {
    return path.empty() ? "code made at run time" : path;
  }
  constexpr std::string_view kDeleted = " (deleted)";
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(kDeleted)) name.resize(name.size() - kDeleted.size());
  return name;
}

}  // namespace

LibrarySource::LibrarySource(const host::HostFiles& files,
                             Result<std::unique_ptr<host::CodeSamples>> samples)
    : files_(files) {
  index_of(kUnknown);
  if (samples) {
    samples_ = *std::move(samples);
  } else {
    why_none_ = samples.error().code == ErrorCode::kNoPermission ? WhyAbsent::kNoPermission
                                                                 : WhyAbsent::kNotSupported;
  }
}

void LibrarySource::note(const trace::FetchRow& fetch) {
  fetched_ = true;
  const auto thread = threads_.find({fetch.pid, fetch.thread});
  if (thread == threads_.end()) return;
  std::deque<Undecided>& samples = thread->second;
  while (!samples.empty() && samples.front().at_ns < fetch.when.end_ns) {
    if (samples.front().at_ns >= fetch.when.start_ns) ++counts_[samples.front().library];
    samples.pop_front();
  }
}

void LibrarySource::sample(const Tick& tick, SampleBook& book) {
  if (samples_ == nullptr) {
    if (fetched_ && tick.full_second) book.put(kLooks, "job", why_none_);
    return;
  }
  drained_.clear();
  samples_->drain(drained_);
  // Each CPU has a ring of its own, and threads wander.
  std::sort(drained_.begin(), drained_.end(),
            [](const host::CodeSample& a, const host::CodeSample& b) { return a.t_ns < b.t_ns; });
  for (const host::CodeSample& sample : drained_) {
    std::deque<Undecided>& samples = threads_[{sample.pid, sample.thread}];
    samples.push_back({sample.t_ns, library_at(sample, tick.now_ns)});
    if (samples.size() > kMostUndecided) samples.pop_front();
  }
  if (!tick.full_second) return;
  write(book);
  forget_what_is_old(tick.now_ns);
}

const LibrarySource::Range* LibrarySource::find(const std::vector<Range>& code,
                                                std::uint64_t address) {
  const auto after = std::partition_point(
      code.begin(), code.end(), [address](const Range& range) { return range.end <= address; });
  return after != code.end() && after->begin <= address ? &*after : nullptr;
}

/// A process is read again when it runs code that it did not have, once a second at most.
LibrarySource::Library LibrarySource::library_at(const host::CodeSample& sample,
                                                 std::int64_t now_ns) {
  const auto [process, is_new] = processes_.try_emplace(sample.pid);
  Process& known = process->second;
  const Range* range = find(known.code, sample.address);
  if (range == nullptr && (is_new || now_ns - known.read_ns >= kSecondNs)) {
    known.read_ns = now_ns;
    read_code(sample.pid, known.code);
    range = find(known.code, sample.address);
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
  if (names_.size() >= kMostLibraries) return index_of(kUnknown);
  const auto index = static_cast<Library>(names_.size());
  names_.push_back(name);
  counts_.push_back(0);
  libraries_.emplace(name, index);
  return index;
}

void LibrarySource::forget_what_is_old(std::int64_t now_ns) {
  std::erase_if(threads_, [now_ns](const auto& thread) {
    const std::deque<Undecided>& samples = thread.second;
    return samples.empty() || now_ns - samples.back().at_ns > kKeptNs;
  });
  std::erase_if(processes_, [this](const auto& process) {
    const auto thread = threads_.lower_bound({process.first, 0});
    return thread == threads_.end() || thread->first.first != process.first;
  });
}

void LibrarySource::finish(std::int64_t /*now_ns*/, SampleBook& book) { write(book); }

void LibrarySource::write(SampleBook& book) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    book.put(kLooks, names_[i], static_cast<double>(counts_[i]));
    counts_[i] = 0;
  }
}

}  // namespace unstarve::observe
