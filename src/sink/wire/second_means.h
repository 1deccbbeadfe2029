#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace unstarve::sink {

/// One value a second of a series whose samples come more often: programs that people look at keep
/// each value that they get.
class SecondMeans {
 public:
  struct Mean {
    std::int64_t second = 0;  // since the run began
    double value = 0;
  };

  /// The mean of the second before, where `t_ns` (since the run began) lies in a later one.
  std::optional<Mean> note(const std::string& series, std::int64_t t_ns, double value) {
    const std::int64_t second = t_ns / kSecondNs;
    Second& open = open_[series];
    std::optional<Mean> closed;
    if (open.count > 0 && open.second != second) closed = mean_of(open);
    if (closed) open = {};
    open.second = second;
    open.sum += value;
    ++open.count;
    return closed;
  }

  /// Those of the last seconds, by series.
  std::map<std::string, Mean> close() {
    std::map<std::string, Mean> last;
    for (const auto& [series, open] : open_) {
      if (open.count > 0) last[series] = mean_of(open);
    }
    open_.clear();
    return last;
  }

 private:
  struct Second {
    std::int64_t second = 0;
    double sum = 0;
    std::int64_t count = 0;
  };
  static Mean mean_of(const Second& open) {
    return {open.second, open.sum / static_cast<double>(open.count)};
  }

  std::map<std::string, Second> open_;
};

}  // namespace unstarve::sink
