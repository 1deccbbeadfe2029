#include "tune/levers/parts/thread_counts.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace unstarve::tune {

std::vector<Lever> thread_counts(const Lever& lever, std::int64_t known, std::int64_t cpus) {
  std::vector<Lever> levers;
  const std::set<std::int64_t> counts = {1, cpus / 2, cpus};
  for (const std::int64_t count : counts) {
    if (count < 1 || count == known) continue;
    const auto with_count = [count](std::string& words) {
      words = fmt::format(fmt::runtime(words), count);
    };
    Lever variant = lever;
    variant.id = fmt::format("{}={}", lever.hook, count);
    variant.settings = fmt::format(R"({{"count": {}}})", count);
    variant.group = lever.hook;
    with_count(variant.what);
    with_count(variant.permanent);
    for (std::string& line : variant.written->lines) with_count(line);
    for (auto& [trainer, setting] : variant.by_trainer) with_count(setting);
    if (count > known && known > 0) {
      variant.most_saved = 1 - static_cast<double>(known) / static_cast<double>(count);
    }
    levers.push_back(std::move(variant));
  }
  return levers;
}

}  // namespace unstarve::tune
