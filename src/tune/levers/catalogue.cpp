#include "tune/levers/catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace unstarve::tune {

namespace {

constexpr std::int64_t kMostWorkers = 64;
constexpr std::size_t kMostDoublings = 3;
const Argument* find_argument(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

/// Both arguments at once, so that a step holds as many samples.
Lever regrouped(const Argument& batch, std::int64_t size, const Argument& accumulation,
                std::int64_t passes) {
  Lever lever = both_levers(argument_lever(batch, size), argument_lever(accumulation, passes));
  lever.group = kAccumulationArgument;
  lever.numerics = Numerics::kRegrouped;
  lever.passes_ratio = static_cast<double>(passes) / static_cast<double>(accumulation.value);
  return lever;
}

/// Larger portions down to a single one, and portions of half the size.
void add_accumulations(const Argument& batch, const Argument& accumulation,
                       std::vector<Lever>& levers) {
  const std::int64_t passes = accumulation.value;
  for (const std::int64_t times : std::set<std::int64_t>{2, 4, 8, passes}) {
    if (times < 2 || passes % times != 0 || batch.value > INT64_MAX / times) continue;
    levers.push_back(regrouped(batch, batch.value * times, accumulation, passes / times));
  }
  if (batch.value >= 2 && batch.value % 2 == 0 && passes <= INT64_MAX / 2) {
    levers.push_back(regrouped(batch, batch.value / 2, accumulation, passes * 2));
  }
}

std::vector<std::int64_t> values_around(const Argument& argument, std::int64_t cpus) {
  std::vector<std::int64_t> values;
  if (argument.name == "workers") {
    const std::int64_t most = std::min(kMostWorkers, std::max<std::int64_t>(4, 2 * cpus));
    for (std::int64_t value = 1; value <= most; value *= 2) values.push_back(value);
  } else {
    std::int64_t value = argument.value;
    for (std::size_t i = 0; i < kMostDoublings - 1; ++i) {
      if (value > INT64_MAX / 2) break;
      values.push_back(value *= 2);
    }
    values.push_back(argument.value / 2);
  }
  std::erase_if(values, [&](std::int64_t value) { return value == argument.value || value < 1; });
  return values;
}

void add_argument(const Argument& argument, std::int64_t cpus, std::vector<Lever>& levers) {
  for (const std::int64_t value : values_around(argument, cpus)) {
    levers.push_back(argument_lever(argument, value));
  }
}

std::vector<LeverFamily> families() {
  std::vector<LeverFamily> all = all_lever_families();
  std::stable_sort(all.begin(), all.end(),
                   [](const LeverFamily& a, const LeverFamily& b) { return a.order < b.order; });
  return all;
}

}  // namespace

Lever hook_lever(const std::string& name, Numerics numerics, Eases eases, const std::string& what,
                 const std::string& permanent) {
  Lever lever;
  lever.id = lever.hook = name;
  lever.settings = "{}";
  lever.numerics = numerics;
  lever.eases = eases;
  lever.what = what;
  lever.permanent = permanent;
  return lever;
}

script::ScriptEdit lines_edit(std::vector<std::string> lines, std::vector<std::string> unless) {
  script::ScriptEdit edit;
  edit.lines = std::move(lines);
  edit.unless = std::move(unless);
  return edit;
}

std::vector<Lever> levers_for(const TunedJob& job, const std::vector<Argument>& arguments) {
  std::vector<Lever> levers;
  for (const Argument& argument : arguments) {
    if (argument.name == "workers") add_argument(argument, job.cpus, levers);
  }
  for (const LeverFamily& family : families()) {
    for (Lever& lever : family.offer(job)) levers.push_back(std::move(lever));
  }
  const Argument* const batch = find_argument(arguments, kBatchArgument);
  const Argument* const accumulation = find_argument(arguments, kAccumulationArgument);
  const bool both = batch != nullptr && accumulation != nullptr && accumulation->value > 0;
  if (both) add_accumulations(*batch, *accumulation, levers);
  for (const Argument& argument : arguments) {
    const bool elsewhere =
        argument.name == "workers" || &argument == batch || (both && &argument == accumulation);
    if (!elsewhere) add_argument(argument, job.cpus, levers);
  }
  return levers;
}

std::string hook_levers(const std::vector<const Lever*>& levers) {
  nlohmann::json wanted = nlohmann::json::object();
  for (const Lever* const lever : levers) {
    if (!lever->hook.empty()) wanted[lever->hook] = nlohmann::json::parse(lever->settings);
  }
  return wanted.dump();
}

}  // namespace unstarve::tune
