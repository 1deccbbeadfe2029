#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ring/mapped_ring.h"
#include "trace/ring_follower.h"
#include "trace/store/run_sink.h"

namespace unstarve::observe {

/// All rings of a run. Processes of the job add files while it runs; each is followed from its
/// first record, and one whose process said goodbye, or is gone without a word, is removed once the
/// run holds all of it, since a job that starts new workers every epoch would otherwise fill the
/// disk with them.
/// Thread rule: one thread at a time.
class RingDirectory {
 public:
  /// `dir` is RUN/rings.
  explicit RingDirectory(std::string dir) : dir_(std::move(dir)) {}

  /// Looks for new files. What is no ring yet is tried again, a bounded number of times.
  void discover();
  /// Hands what is new in all rings to `sink`. A ring that fails is given up, the others go on.
  void drain(trace::RunSink& sink);
  /// Removes the files of ended processes whose rows were committed: call it after a commit that
  /// succeeded. Those of device events only where none was dropped.
  void remove_finished(bool events_are_whole);
  /// At the end of a run whose last commit succeeded: removes every ring that was read whole.
  void remove_all();

  /// Records overwritten or damaged before they could be read.
  std::uint64_t lost() const;
  /// In words, each once: files that are no rings, rings that could not be found or read on.
  const std::vector<std::string>& remarks() const { return remarks_; }
  std::size_t open_rings() const { return rings_.size(); }

 private:
  void remark_once(const Error& error);

  struct Ring {
    trace::RingFollower follower;
    bool failed = false;
    bool ended_before = false;  // when it was last drained, its process had ended
    bool finished = false;      // drained once more after its end
  };
  /// A ring's path and the file that it names: process ids, and with them names, are used again.
  using Key = std::pair<std::string, io::FileIdentity>;

  std::string dir_;
  std::map<Key, Ring> rings_;
  std::map<Key, int> tries_left_;
  std::set<Key> left_behind_;  // read whole, and could not be removed
  std::uint64_t lost_by_removed_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace unstarve::observe
