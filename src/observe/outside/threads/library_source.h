#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/code_map.h"
#include "host/code_samples.h"
#include "host/host_files.h"
#include "observe/outside/samples/source.h"
#include "trace/store/run_rows.h"

namespace unstarve::observe {

/// Whose code threads run while they fetch batches: samples of the instructions that they were at,
/// by the file that holds these, of which those within a fetch are counted. As with FetchSource, a
/// fetch is known when the hook has told of it, and a thread is looked at from then on. Subject:
/// the file's name ("libjpeg.so.62.4.0").
///
/// Costs two pages and a file for each of kMostThreads threads, and none of the job's other threads
/// anything: samples that a job's threads inherit from each other took a file for each CPU.
class LibrarySource final : public Source {
 public:
  using Open = std::function<Result<std::unique_ptr<host::CodeSamples>>(std::int64_t thread)>;
  LibrarySource(const host::HostFiles& files, Open open) : files_(files), open_(std::move(open)) {}
  std::string_view name() const override { return "library"; }
  void sample(const Tick& tick, SampleBook& book) override;
  void finish(std::int64_t now_ns, SampleBook& book) override;

  /// A fetch that has ended.
  void note(const trace::FetchRow& fetch);

  static constexpr std::size_t kMostThreads = 64;

 private:
  using Library = std::uint32_t;  // an index into names_
  struct Undecided {
    std::int64_t at_ns = 0;
    Library library = 0;
  };
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Library library = 0;
  };
  struct Process {
    std::vector<Range> code;  // by address
    std::int64_t read_ns = -1;
  };
  struct Thread {
    std::unique_ptr<host::CodeSamples> samples;
    std::deque<Undecided> undecided = {};
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, thread

  void watch(const Key& key);
  Library library_at(Process& process, std::int64_t pid, std::uint64_t address,
                     std::int64_t now_ns);
  void read_code(std::int64_t pid, std::vector<Range>& code);
  Library index_of(const std::string& name);
  void forget_what_ended();
  void write(SampleBook& book);

  const host::HostFiles& files_;
  Open open_;
  WhyAbsent why_none_ = WhyAbsent::kNotObserved;  // another: no thread may be looked at
  std::vector<host::CodeSample> drained_;
  std::map<Key, Thread> threads_;
  std::map<std::int64_t, Process> processes_;
  std::map<std::string, Library> libraries_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;  // by library
};

}  // namespace unstarve::observe
