#include "emulated/collective/task.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::emulated {
namespace {

constexpr int kRanks = 3;

/// What each of three ranks gets of "abc", "def" and "ghi", task by task.
std::vector<std::string> results(Collective kind, std::size_t bytes, int root = 0) {
  const std::vector<std::string> sources = {"abc", "def", "ghi"};
  std::vector<Contribution> brought;
  for (const std::string& source : sources) {
    brought.push_back({.bytes = std::as_bytes(std::span(source))});
  }
  const CollectiveTask task{.kind = kind,
                            .type = Element::kU8,
                            .reduction = Reduction::kMax,
                            .root = root,
                            .bytes = bytes};
  std::vector<std::string> all;
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<std::byte> result = result_of(task, rank, brought);
    const std::size_t bytes_wanted = target_bytes(task, rank, kRanks);
    if (bytes_wanted > 0) {
      EXPECT_EQ(result.size(), bytes_wanted);
    }
    all.emplace_back(reinterpret_cast<const char*>(result.data()), result.size());
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(CollectiveTask, EachKindGivesEachRankItsOwn) {
  EXPECT_EQ(results(Collective::kAllReduce, 3), (Texts{"ghi", "ghi", "ghi"}));
  EXPECT_EQ(results(Collective::kReduceScatter, 1), (Texts{"g", "h", "i"}));
  EXPECT_EQ(results(Collective::kAllGather, 2), (Texts{"abdegh", "abdegh", "abdegh"}));
  EXPECT_EQ(results(Collective::kBroadcast, 3, 1), (Texts{"def", "def", "def"}));
  EXPECT_EQ(results(Collective::kScatter, 1, 2), (Texts{"g", "h", "i"}));
  EXPECT_EQ(results(Collective::kAllToAll, 1), (Texts{"adg", "beh", "cfi"}));
  EXPECT_EQ(results(Collective::kGather, 2)[0], "abdegh");
  EXPECT_EQ(results(Collective::kReduce, 3, 2)[2], "ghi");
}

TEST(CollectiveTask, SourcesAreAsLargeAsNcclReadsThem) {
  const auto source = [](Collective kind, int rank) {
    return source_bytes({.kind = kind, .root = 1, .bytes = 10}, rank, kRanks);
  };
  EXPECT_EQ(source(Collective::kAllReduce, 0), 10U);
  EXPECT_EQ(source(Collective::kReduceScatter, 0), 30U);
  EXPECT_EQ(source(Collective::kBroadcast, 0), 0U);
  EXPECT_EQ(source(Collective::kBroadcast, 1), 10U);
  EXPECT_EQ(source(Collective::kScatter, 1), 30U);
}

TEST(CollectiveTask, AGroupTakesItsStepsOnce) {
  constexpr Link kSlowLink{.bytes_per_s = 1e9, .latency_ns = 1'000};
  const CollectiveTask gather{.kind = Collective::kAllGather, .bytes = 300};
  // 2/3 of 3 * 600 bytes, two steps.
  EXPECT_EQ(duration_ns({gather, gather}, kRanks, kSlowLink), 1'200 + 2'000);
}

TEST(CollectiveTask, RanksAgreeOnlyOnTheSame) {
  const CollectiveTask task{.kind = Collective::kReduce, .root = 1, .bytes = 300};
  CollectiveTask other = task;
  EXPECT_EQ(digest_of({task}), digest_of({other}));
  other.root = 2;
  EXPECT_NE(digest_of({task}), digest_of({other}));
  EXPECT_NE(digest_of({task}), digest_of({task, task}));
}

TEST(CollectiveTask, ANameSaysWhatItIs) {
  Tasks tasks;
  tasks.collectives.push_back({.kind = Collective::kAllGather});
  EXPECT_STREQ(name_of(tasks), "emulated ncclAllGather");
  tasks.collectives.push_back({.kind = Collective::kReduce});
  EXPECT_STREQ(name_of(tasks), "emulated ncclGroup");
  tasks.collectives.clear();
  tasks.messages.push_back({});
  EXPECT_STREQ(name_of(tasks), "emulated ncclSendRecv");
}

TEST(Carried, ComesBackAsItWas) {
  const auto bytes = std::make_shared<std::vector<unsigned char>>(4, 'x');
  CollectiveTask some{.factor = 2.5, .bytes = 4};
  some.known = {{.at = 1, .bytes = 2, .source = bytes, .offset = 0}};
  const std::vector<std::byte> carried = pack({some, {.bytes = 9}, some});
  const std::vector<Contribution> parts = unpack(carried, 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].bytes.size(), 3U) << "zeros up to what is known";
  EXPECT_EQ(parts[0].bytes[2], std::byte{'x'});
  EXPECT_TRUE(parts[1].bytes.empty());
  EXPECT_EQ(parts[2].factor, 2.5);
}

TEST(Carried, DamagedBytesBringNothing) {
  const std::vector<std::byte> noise(20, std::byte{0xFF});
  for (const Contribution& part : unpack(noise, 4)) EXPECT_TRUE(part.bytes.empty());
}

TEST(Carried, WhatFindsNoRoomBringsNothing) {
  const auto bytes = std::make_shared<std::vector<unsigned char>>(40'000, 'x');
  CollectiveTask large{.bytes = 40'000};
  large.known = {{.bytes = 40'000, .source = bytes}};
  const std::vector<std::byte> carried = pack({large, large});
  const std::vector<Contribution> parts = unpack(carried, 2);
  EXPECT_EQ(parts[0].bytes.size(), 40'000U);
  EXPECT_TRUE(parts[1].bytes.empty());
}

}  // namespace
}  // namespace unstarve::emulated
