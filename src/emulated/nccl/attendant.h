#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "emulated/collective/member.h"

namespace unstarve::emulated::nccl {

/// Looks at the device while something waits for other ranks and the program calls nothing: a rank
/// says that its stream came to a collective only when somebody looks. One thread, started when it
/// is needed first; it sleeps while nothing waits.
/// Thread rule: any thread. Never destroyed.
class Attendant {
 public:
  static Attendant& get();
  /// An operation of this member was put into a stream.
  void expect(const std::shared_ptr<Member>& member) UNSTARVE_EXCLUDES(mutex_);

 private:
  void start() UNSTARVE_REQUIRES(mutex_);
  void run() UNSTARVE_EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool started_ UNSTARVE_GUARDED_BY(mutex_) = false;
  bool expected_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Member>> at_work_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::emulated::nccl
