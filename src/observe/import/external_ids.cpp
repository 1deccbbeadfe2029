#include "observe/import/external_ids.h"

#include <algorithm>
#include <string_view>

namespace unstarve::observe {
namespace {

// A call that waits for the device launches nothing, unless it copies.
bool launches(const trace::Timeline& timeline, const trace::HostCall& call) {
  if (call.kind == trace::HostCallKind::kLaunch) return true;
  return call.kind == trace::HostCallKind::kSync &&
         timeline.name_of(call.name).find("Synchronize") == std::string_view::npos;
}

template <class Noted, class Items>
void sort_by_id_and_time(std::vector<Noted>& noted, const Items& items) {
  std::sort(noted.begin(), noted.end(), [&items](const Noted& a, const Noted& b) {
    if (a.id != b.id) return a.id < b.id;
    const std::int64_t a_start = items[a.index].start_ns;
    const std::int64_t b_start = items[b.index].start_ns;
    return a_start != b_start ? a_start < b_start : a.index < b.index;
  });
}

template <class Iterator>
Iterator end_of_id(Iterator from, Iterator end) {
  return std::find_if(from, end, [from](const auto& noted) { return noted.id != from->id; });
}

}  // namespace

void ExternalIds::link(trace::Timeline& timeline) {
  std::erase_if(calls_, [&timeline](const Noted& noted) {
    return !launches(timeline, timeline.host_calls[noted.index]);
  });
  sort_by_id_and_time(calls_, timeline.host_calls);
  sort_by_id_and_time(ops_, timeline.device_ops);
  std::int64_t correlation = 0;
  auto call = calls_.begin();
  for (auto op = ops_.begin(); op != ops_.end();) {
    const auto ops_end = end_of_id(op, ops_.end());
    while (call != calls_.end() && call->id < op->id) ++call;
    const bool launched = call != calls_.end() && call->id == op->id;
    const auto calls_end = launched ? end_of_id(call, calls_.end()) : call;
    const bool in_pairs = calls_end - call == ops_end - op;
    std::int64_t of_call = correlation;
    for (; call != calls_end; ++call, of_call += in_pairs ? 1 : 0) {
      timeline.host_calls[call->index].correlation = of_call;
    }
    for (; launched && op != ops_end; ++op, correlation += in_pairs ? 1 : 0) {
      timeline.device_ops[op->index].correlation = correlation;
    }
    op = ops_end;
    ++correlation;
  }
}

}  // namespace unstarve::observe
