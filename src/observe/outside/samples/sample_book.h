#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/reading.h"
#include "trace/run_writer.h"

namespace unstarve::observe {

/// Why something that could not be read is absent.
inline WhyAbsent why_absent(const Error& error) {
  return error.code == ErrorCode::kNoPermission ? WhyAbsent::kNoPermission
                                                : WhyAbsent::kNotSupported;
}

/// What a metric is, for the run's table `metric`; docs/metrics.md has them all.
struct MetricDescriptor {
  std::string_view name;  // "job.cpu_cores"
  std::string_view unit;
  std::string_view source;
  std::string_view description;
};

/// The last value of one metric of one subject.
struct LatestSample {
  std::string name;
  std::string subject;
  Reading<double> value;
};

/// Where sources leave their readings. Registers a metric in the run when it is first seen, and
/// writes an absent reading only when it begins, or changes its reason, so that a signal that this
/// machine lacks costs one row and not ten a second. Thread rule: one thread at a time.
class SampleBook {
 public:
  explicit SampleBook(trace::RunWriter& writer) : writer_(writer) {}

  void set_time(std::int64_t now_ns) { now_ns_ = now_ns; }
  void put(const MetricDescriptor& metric, std::string_view subject, const Reading<double>& value);

  std::vector<LatestSample> latest() const;
  Reading<double> latest(std::string_view name, std::string_view subject) const;

 private:
  struct Entry {
    std::int64_t id = 0;
    bool written = false;
    Reading<double> value;
  };
  using Key = std::pair<std::string_view, std::string>;

  trace::RunWriter& writer_;
  std::int64_t now_ns_ = 0;
  std::map<Key, Entry> entries_;
};

/// A counter's growth per second between two readings.
class Rate {
 public:
  /// Nothing on the first call, when the counter went back, and when time did not move.
  Reading<double> per_second(const Reading<double>& counter, std::int64_t now_ns);

 private:
  Reading<double> last_;
  std::int64_t last_ns_ = 0;
};

}  // namespace unstarve::observe
