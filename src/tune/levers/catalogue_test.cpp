#include "tune/levers/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace unstarve::tune {
namespace {

using LeverWords = std::vector<std::string>;

bool has(const std::vector<Lever>& levers, const std::string& id) {
  return std::any_of(levers.begin(), levers.end(),
                     [&](const Lever& lever) { return lever.id == id; });
}

TEST(Catalogue, ArgumentsArePutIntoTheCommand) {
  const LeverWords command = {"python", "train.py", "--workers", "2", "--batch-size=32"};
  const std::vector<Argument> arguments = {{"workers", "--workers", 2},
                                           {"width", "--batch-size", 32}};
  const std::vector<Lever> levers = levers_for({"cpu", 2, 2}, arguments);
  std::vector<const Lever*> chosen;
  for (const Lever& lever : levers) {
    if (lever.id == "workers=4" || lever.id == "width=64") chosen.push_back(&lever);
  }
  EXPECT_EQ(with_arguments(command, chosen),
            (LeverWords{"python", "train.py", "--workers", "4", "--batch-size=64"}));
  EXPECT_TRUE(has(levers, "width=16"));
  EXPECT_FALSE(has(levers, "width=32"));
  EXPECT_FALSE(has(levers, "workers=2"));
}

TEST(Catalogue, EachDeviceHasItsLevers) {
  const std::vector<Lever> cpu = levers_for({"cpu", 4, 4}, {});
  EXPECT_TRUE(has(cpu, "threads=2") && has(cpu, "kept_memory"));
  EXPECT_FALSE(has(cpu, "threads=4") || has(cpu, "cudnn_benchmark"));
  const std::vector<Lever> gpu = levers_for({"cuda", 4, 4}, {});
  EXPECT_TRUE(has(gpu, "cudnn_benchmark") && has(gpu, "expandable_segments"));
  EXPECT_FALSE(has(gpu, "threads=2"));
  EXPECT_TRUE(has(cpu, "interop_threads=2") && has(cpu, "set_to_none"));
  EXPECT_FALSE(has(levers_for({"cpu", 4, 4, 2}, {}), "interop_threads=2"));
  EXPECT_TRUE(has(cpu, "hf_sdpa") && has(gpu, "hf_sdpa") && has(gpu, "sdpa_flash"));
  EXPECT_FALSE(has(cpu, "sdpa_flash"));
}

TEST(Catalogue, AllocatorsAreThoseOfThisMachine) {
  TunedJob job = {"cpu", 4, 4};
  job.allocators = {{"jemalloc", "/lib/libjemalloc.so.2"}};
  for (const Lever& lever : levers_for(job, {})) {
    if (lever.id == "jemalloc") {
      EXPECT_TRUE(lever.missing.empty());
      EXPECT_TRUE(lever.environment.front().second.starts_with("/lib/libjemalloc.so.2"));
    }
    if (lever.id == "tcmalloc") {
      EXPECT_FALSE(lever.missing.empty());
    }
  }
}

TEST(Catalogue, CodeThatIsDownloadedHasToBeAllowed) {
  TunedJob job = {"cuda", 4, 4};
  const auto missing = [&job] {
    for (const Lever& lever : levers_for(job, {})) {
      if (lever.id == "hub_kernels") return !lever.missing.empty();
    }
    return false;
  };
  EXPECT_TRUE(missing());
  job.allowed = {"hub_kernels"};
  EXPECT_FALSE(missing());
  EXPECT_TRUE(has(levers_for(job, {}), "liger") && has(levers_for(job, {}), "pinned_copies"));
}

TEST(Catalogue, SizesOfTheBatchAreSearchedAndNotListed) {
  const std::vector<Argument> batch = {{"batch", "--batch-size", 32}};
  for (const Lever& lever : levers_for({"cuda", 4, 4}, batch)) EXPECT_NE(lever.group, "batch");
  EXPECT_EQ(argument_lever(batch.front(), 96).numerics, Numerics::kTrajectory);
}

TEST(Catalogue, BatchAndAccumulationChangeTogether) {
  const LeverWords command = {"python", "train.py", "--batch", "16", "--accumulate=4"};
  const std::vector<Argument> both = {{"batch", "--batch", 16},
                                      {"accumulation", "--accumulate", 4}};
  std::vector<std::string> ids;
  for (const Lever& lever : levers_for({"cuda", 4, 4}, both)) {
    if (lever.group != "accumulation") continue;
    ids.push_back(lever.id);
    EXPECT_EQ(lever.numerics, Numerics::kRegrouped);
    if (lever.id != "batch=64 accumulation=1") continue;
    EXPECT_EQ(with_arguments(command, {&lever}),
              (LeverWords{"python", "train.py", "--batch", "64", "--accumulate=1"}));
    EXPECT_EQ(lever.passes_ratio, 0.25);
  }
  EXPECT_EQ(ids, (LeverWords{"batch=32 accumulation=2", "batch=64 accumulation=1",
                             "batch=8 accumulation=8"}));
  EXPECT_TRUE(has(levers_for({"cuda", 4, 4}, {both[1]}), "accumulation=8"))
      << "alone it changes the training, as any other argument";
}

TEST(Catalogue, TheHookIsToldOfItsOwnLeversAlone) {
  const std::vector<Lever> levers = levers_for({"cpu", 4, 4}, {{"width", "--w", 8}});
  std::vector<const Lever*> chosen;
  for (const Lever& lever : levers) {
    if (lever.id == "threads=2" || lever.id == "width=16") chosen.push_back(&lever);
  }
  EXPECT_EQ(hook_levers(chosen), R"({"threads":{"count":2}})");
  EXPECT_EQ(hook_levers({}), "{}");
}

}  // namespace
}  // namespace unstarve::tune
