#include "diagnose/errors/gpu_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "diagnose/errors/xid_catalogue.h"

namespace unstarve::diagnose {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<trace::Step> steps_of_a_second(std::int64_t first, std::int64_t count) {
  std::vector<trace::Step> steps;
  for (std::int64_t i = first; i < first + count; ++i) {
    trace::Step step;
    step.index = i;
    step.when = {i * kSecond, (i + 1) * kSecond};
    steps.push_back(step);
  }
  return steps;
}

TEST(GroupErrors, PutsThoseAlikeTogetherAndKeepsTheOrder) {
  const std::vector<trace::GpuErrorRow> errors = {
      {3 * kSecond, 1, 31}, {4 * kSecond, 1, 43}, {5 * kSecond, 1, 31}, {5 * kSecond, 0, 31}};
  const auto groups = group_errors(errors, kSecond, {});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].device, 1);
  EXPECT_EQ(groups[0].xid, 31);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_DOUBLE_EQ(groups[0].first_at_s, 2);
  EXPECT_EQ(groups[1].xid, 43);
  EXPECT_EQ(groups[2].device, 0);
}

TEST(GroupErrors, InstancesOfMigAreToldApart) {
  const std::vector<trace::GpuErrorRow> errors = {
      {1, 0, 31}, {2, 0, 31, 7}, {3, 0, 31, 8}, {4, 0, 31, 7}};
  const auto groups = group_errors(errors, 0, {});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_FALSE(groups[0].gpu_instance.has_value());
  EXPECT_EQ(*groups[1].gpu_instance, 7);
  EXPECT_EQ(groups[1].count, 2);
}

TEST(GroupErrors, StepsThatHadEndedAreCountedAlsoWhereSomeWereLeftOut) {
  const std::vector<trace::GpuErrorRow> errors = {{2 * kSecond + 1, 0, 94}, {13 * kSecond, 0, 79}};
  auto steps = steps_of_a_second(0, 5);
  for (const trace::Step& step : steps_of_a_second(10, 5)) steps.push_back(step);
  const auto groups = group_errors(errors, 0, steps);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].after_steps, 2);
  EXPECT_EQ(groups[1].after_steps, 13);
  EXPECT_EQ(group_errors(errors, 0, {})[0].after_steps, 0);
}

TEST(XidCatalogue, HasWordsAndAdviceForWhatJobsMeet) {
  std::set<std::string_view> meanings;
  for (const std::int64_t xid :
       {13, 31, 43, 45, 48, 61, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120}) {
    const XidWords words = words_of_xid(xid);
    EXPECT_EQ(words.xid, xid);
    EXPECT_FALSE(words.meaning.empty()) << xid;
    EXPECT_FALSE(words.advice.empty()) << xid;
    EXPECT_TRUE(meanings.insert(words.meaning).second) << xid;
  }
  EXPECT_EQ(words_of_xid(79).meaning, "GPU has fallen off the bus");
}

TEST(XidCatalogue, OthersAreLeftToNvidias) {
  EXPECT_TRUE(words_of_xid(140).meaning.empty());
  EXPECT_THAT(std::string(words_of_xid(140).advice), ::testing::HasSubstr("NVIDIA's catalogue"));
  EXPECT_THAT(std::string(words_of_xid(999).meaning), ::testing::HasSubstr("does not know"));
}

}  // namespace
}  // namespace unstarve::diagnose
