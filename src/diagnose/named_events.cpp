#include "diagnose/named_events.h"

#include <map>

#include "base/units.h"

namespace unstarve::diagnose {

std::vector<NamedEvent> count_events(const SignalSources& sources) {
  const trace::Timeline& timeline = sources.timeline();
  const trace::Interval window = signal_window(sources);
  std::map<trace::HostWorkKind, NamedEvent> by_kind;
  for (const trace::HostWork& work : timeline.host_work) {
    if (!sources.owns(work.process)) continue;
    // An error for want of memory comes after the last step, as often as not.
    const bool ends_the_job = work.kind == trace::HostWorkKind::kOutOfMemory;
    if (work.when.start_ns < window.start_ns) continue;
    if (work.when.start_ns >= window.end_ns && !ends_the_job) continue;
    NamedEvent& event = by_kind[work.kind];
    event.kind = work.kind;
    ++event.count;
    event.total_us += static_cast<double>(work.when.duration_ns()) / kNsPerUs;
  }
  for (const trace::HostWorkPlace& place : timeline.host_work_places) {
    const auto event = by_kind.find(place.kind);
    if (sources.owns(place.process) && event != by_kind.end()) event->second.place = place.place;
  }
  const bool bounded = sources.rank.span || sources.worst != nullptr;
  std::vector<NamedEvent> events;
  for (auto& [kind, event] : by_kind) {
    if (bounded) {
      event.share = event.total_us * kNsPerUs / static_cast<double>(window.duration_ns());
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace unstarve::diagnose
