#pragma once

#include <map>

#include "base/mutex.h"
#include "emulated/cufft/cufft_abi.h"
#include "emulated/library/library_call.h"

namespace unstarve::emulated::cufft {

/// A transform of up to three dimensions, so many times.
struct Shape {
  int dimensions = 1;
  long long sizes[3] = {1, 1, 1};
  long long batch = 1;
  DataType input = DataType::kC32F;
  DataType output = DataType::kC32F;

  bool valid() const;
};

struct Plan {
  Target target;
  bool made = false;
  OtherWork work;
  std::size_t workspace_bytes = 0;
};

/// 5 N log2 N operations, half of them for real numbers; a dimension of up to 4,096 numbers is one
/// kernel that reads and writes everything once, a longer one is two.
Plan make_plan(const Shape& shape);

/// The plans of a process: programs hold numbers.
/// Thread rule: any thread.
class Plans {
 public:
  /// Lives for ever: programs destroy plans while the process ends.
  static Plans& instance();

  PlanHandle add(const Plan& plan) UNSTARVE_EXCLUDES(mutex_);
  bool remove(PlanHandle handle) UNSTARVE_EXCLUDES(mutex_);
  bool find(PlanHandle handle, Plan* plan) UNSTARVE_EXCLUDES(mutex_);
  bool replace(PlanHandle handle, const Plan& plan) UNSTARVE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  PlanHandle next_ UNSTARVE_GUARDED_BY(mutex_) = 1;
  std::map<PlanHandle, Plan> plans_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::emulated::cufft
