#include "emulated/cupti/observer.h"

#include <memory>

#include "emulated/cupti/subscriber.h"
#include "emulated/cupti/tracer.h"

namespace unstarve::emulated {

namespace {

class Observer final : public RecordSink {
 public:
  void call_begins(const CallRecord& call) override {
    tracer().call_begins(call);
    subscriber().tell(call, true);
  }
  void call_ended(const CallRecord& call) override {
    subscriber().tell(call, false);
    tracer().call_ended(call);
  }
  void kernel_ended(const cupti::Kernel& record, const char* name) override {
    tracer().kernel_ended(record, name);
  }
  void copy_ended(const cupti::Memcpy& record) override { tracer().copy_ended(record); }
  void fill_ended(const cupti::Memset& record) override { tracer().fill_ended(record); }
  void wait_ended(const cupti::Synchronization& record) override { tracer().wait_ended(record); }
};

}  // namespace

void update_sink() {
  static Observer& observer = *std::make_unique<Observer>().release();
  const auto wanted = [] { return tracer().any_enabled() || subscriber().wants_calls(); };
  // Another thread may change what is wanted meanwhile: the last word is what is true after it.
  bool applied = false;
  do {
    applied = wanted();
    set_sink(applied ? &observer : nullptr);
  } while (applied != wanted());
}

}  // namespace unstarve::emulated
