#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/code_map.h"
#include "host/code_samples.h"
#include "host/host_files.h"
#include "observe/outside/source.h"
#include "trace/run_rows.h"

namespace unstarve::observe {

/// Whose code threads run while they fetch batches: samples of the instructions that they were at,
/// by the file that holds these, of which those within a fetch are counted. As with FetchSource, a
/// fetch is known when the hook has told of it. Subject: the file's name ("libjpeg.so.62.4.0").
class LibrarySource final : public Source {
 public:
  /// `samples` may be why there are none.
  LibrarySource(const host::HostFiles& files, Result<std::unique_ptr<host::CodeSamples>> samples);
  std::string_view name() const override { return "library"; }
  void sample(const Tick& tick, SampleBook& book) override;
  void finish(std::int64_t now_ns, SampleBook& book) override;

  /// A fetch that has ended.
  void note(const trace::FetchRow& fetch);

 private:
  using Library = std::uint32_t;  // an index into names_
  struct Undecided {
    std::int64_t at_ns = 0;
    Library library = 0;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, thread
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Library library = 0;
  };
  struct Process {
    std::vector<Range> code;  // by address
    std::int64_t read_ns = 0;
  };

  Library library_at(const host::CodeSample& sample, std::int64_t now_ns);
  static const Range* find(const std::vector<Range>& code, std::uint64_t address);
  void read_code(std::int64_t pid, std::vector<Range>& code);
  Library index_of(const std::string& name);
  void forget_what_is_old(std::int64_t now_ns);
  void write(SampleBook& book);

  const host::HostFiles& files_;
  std::unique_ptr<host::CodeSamples> samples_;
  WhyAbsent why_none_ = WhyAbsent::kNotObserved;
  bool fetched_ = false;
  std::vector<host::CodeSample> drained_;
  std::map<Key, std::deque<Undecided>> threads_;
  std::map<std::int64_t, Process> processes_;
  std::map<std::string, Library> libraries_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;  // by library
};

}  // namespace unstarve::observe
