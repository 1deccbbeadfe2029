#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

namespace {

/// splitmix64: any bit of it is as good as a coin.
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

std::int64_t SlotPlan::slot_at(std::int64_t t_ns) const {
  return t_ns <= origin_ns ? 0 : (t_ns - origin_ns) / slot_ns;
}

Interval SlotPlan::slot(std::int64_t number) const {
  return {origin_ns + number * slot_ns, origin_ns + (number + 1) * slot_ns};
}

Interval SlotPlan::block_of(std::int64_t number) const {
  const std::int64_t first = number >> level << level;
  return {slot(first).start_ns, slot(first + (std::int64_t{1} << level)).start_ns};
}

bool SlotPlan::keeps(std::int64_t number) const {
  for (int at = 1; at <= level; ++at) {
    const auto group = static_cast<std::uint64_t>(number >> at);
    const std::uint64_t second = group == 0 ? 0 : scrambled(group * 64 + static_cast<unsigned>(at));
    const auto half = static_cast<std::uint64_t>(number >> (at - 1));
    if ((half & 1U) != (second & 1U)) return false;
  }
  return true;
}

bool SlotPlan::is_whole(std::int64_t from_ns, std::int64_t to_ns) const {
  if (level == 0) return true;
  const std::int64_t from = slot_at(from_ns);
  const std::int64_t to = slot_at(to_ns);
  return to - from <= 1 && keeps(from) && keeps(to);
}

}  // namespace unstarve::trace
