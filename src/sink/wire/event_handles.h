#pragma once

#include <event2/event.h>

#include "base/unique_handle.h"

namespace unstarve::sink {

struct EventBaseTraits {
  using Handle = event_base*;
  static Handle invalid() { return nullptr; }
  static void close(Handle base) noexcept { event_base_free(base); }
};
/// A loop of libevent's.
using EventBase = UniqueHandle<EventBaseTraits>;

}  // namespace unstarve::sink
