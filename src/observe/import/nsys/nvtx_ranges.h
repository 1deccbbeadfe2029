#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// Collects the NVTX ranges of an export that say where training steps begin and where a thread
/// waits for its data loader, and makes steps and waits of them. Steps are what these mark, the
/// first that a process has twice or more:
///
///   ProfilerStep#12                            torch.profiler beside emit_nvtx
///   step 12, train_step, iteration_3, batch    the user's own: words for a step, with any number
///   Optimizer.step#SGD.step                    emit_nvtx: from the end of one to that of the next
///
/// Waits: PyTorch's "enumerate(DataLoader)#...__next__", and the user's "data_loading",
/// "next_batch" and the like.
class NvtxRanges {
 public:
  struct Range {
    trace::Interval when;
    std::int64_t process = 0;
    std::int64_t thread = 0;
  };

  void add(std::string_view text, const Range& range);
  /// Puts the steps and the waits into `timeline`, unsorted.
  void finish(trace::Timeline& timeline);

 private:
  /// Ranges whose names differ by numbers only.
  struct Family {
    std::int64_t total_ns = 0;
    std::vector<Range> ranges;
  };

  // By process, by which of the kinds above (less comes first), and by name without numbers.
  std::map<std::tuple<std::int64_t, int, std::string>, Family> families_;
  std::vector<trace::LoaderWait> waits_;
};

}  // namespace unstarve::observe
