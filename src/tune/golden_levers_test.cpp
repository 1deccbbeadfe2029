#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tune/levers/catalogue.h"
#include "tune/levers/trainer_settings.h"
#include "tune/patch/lever_edit.h"

namespace unstarve::tune {
namespace {

const char* numerics_name(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact: return "exact";
    case Numerics::kRounding: return "rounding";
    case Numerics::kRedrawn: return "redrawn";
    case Numerics::kRegrouped: return "regrouped";
    case Numerics::kTrajectory: break;
  }
  return "trajectory";
}

/// All that is known of a lever before it is tried.
std::string described(const Lever& lever, const TrialResult& job) {
  std::string text = fmt::format("{}\n  {}; {}; {}\n", lever.id, lever.what,
                                 numerics_name(lever.numerics), to_string(lever.eases));
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {}: {}\n", name, value);
  };
  add("hook", lever.hook.empty() ? "" : lever.hook + " " + lever.settings);
  add("group", lever.group);
  add("variant of", lever.variant_of);
  add("memory", lever.saves_memory ? "saves it" : lever.makes_room ? "makes room" : "");
  for (const auto& [name, value] : lever.environment) add("environment", name + "=" + value);
  for (const auto& [name, value] : lever.arguments) add("argument", name + " " + value);
  if (lever.most_saved) add("at most", fmt::format("{:.3f}", *lever.most_saved));
  if (lever.passes_ratio != 1) add("passes", fmt::format("{}", lever.passes_ratio));
  add("missing", lever.missing);
  add("permanent", lever.permanent);
  if (const auto edit = edit_for(lever, "/job/train.py", job)) {
    add("line", fmt::format("{}", fmt::join(edit->lines, "; ")));
    add("unless", fmt::format("{}", fmt::join(edit->unless, " ")));
    add("call", edit->optimizer.empty() ? "" : edit->optimizer + "(fused=True)");
    for (const auto& call : edit->calls) add("call", call.class_name);
  }
  for (const char* trainer : {"transformers", "lightning", "accelerate"}) {
    add(trainer, trainer_settings(trainer, {&lever}));
  }
  return text;
}

std::string catalogue_of(const std::string& device) {
  TrialResult job;
  job.device = device;
  job.optimizer = "AdamW";
  job.constructed["DataLoader.num_workers"] = {2, "", "/job/train.py:7"};
  TunedJob tuned = {device, 4, 8, 4};
  tuned.optimizer = job.optimizer;
  tuned.allocators = {{"jemalloc", "/lib/libjemalloc.so.2"}};
  std::string text;
  for (const Lever& lever : levers_for(tuned, {{"workers", "DataLoader.num_workers", 2},
                                               {"batch", "--batch", 16},
                                               {"accumulation", "--accumulate", 4},
                                               {"width", "--width", 8}})) {
    text += described(lever, job);
  }
  return text;
}

/// UNSTARVE_WRITE_GOLDEN=1 writes them anew, to be read before they are committed.
TEST(Catalogue, EachLeverIsWhatItsGoldenCaseSays) {
  const std::string others = std::getenv("LD_PRELOAD") != nullptr ? std::getenv("LD_PRELOAD") : "";
  ::unsetenv("LD_PRELOAD");
  for (const std::string device : {"cpu", "cuda"}) {
    const std::string path =
        std::string(UNSTARVE_SOURCE_DIR) + "/tests/golden/levers/" + device + ".txt";
    if (std::getenv("UNSTARVE_WRITE_GOLDEN") != nullptr)
      std::ofstream(path) << catalogue_of(device);
    std::ifstream file(path);
    const std::string golden{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(catalogue_of(device), golden);
  }
  if (!others.empty()) ::setenv("LD_PRELOAD", others.c_str(), 1);
}

}  // namespace
}  // namespace unstarve::tune
