#pragma once

#include <cstdint>
#include <string_view>

#include "observe/outside/samples/sample_book.h"

namespace unstarve::observe {

/// One moment at which sources are read.
struct Tick {
  std::int64_t number = 0;  // 0, 1, 2, ...
  std::int64_t now_ns = 0;
  bool full_second = false;  // about once a second, and on the first tick
};

/// Something outside the job that is read again and again. A source never fails: what it cannot
/// read it puts down as absent, and tries again next time.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;
  virtual void sample(const Tick& tick, SampleBook& book) = 0;
  /// After the last tick, when the job has ended: what came meanwhile and must not be missed.
  virtual void finish(std::int64_t /*now_ns*/, SampleBook& /*book*/) {}
};

}  // namespace unstarve::observe
