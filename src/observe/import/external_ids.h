#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// What stands in for correlation numbers in traces of old profilers: the number of the framework's
/// operation, which the calls and the device operations below it have in common.
class ExternalIds {
 public:
  /// Of the operation or call at this index of the Timeline.
  void note_op(std::size_t op, std::int64_t external_id) { ops_.push_back({external_id, op}); }
  void note_call(std::size_t call, std::int64_t external_id) {
    calls_.push_back({external_id, call});
  }

  /// Gives each device operation the correlation of the call that launched it: in the order of
  /// time, where a framework's operation launched as many as ran; else all of them share one, and
  /// each has its launch among them. Not sorted yet: indices are those that were noted.
  void link(trace::Timeline& timeline);

 private:
  struct Noted {
    std::int64_t id;
    std::size_t index;
  };
  std::vector<Noted> ops_;
  std::vector<Noted> calls_;
};

}  // namespace unstarve::observe
