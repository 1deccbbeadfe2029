#include "emulated/collective/member.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace unstarve::emulated {
namespace {

constexpr Member::Timing kTiming{.link = {.bytes_per_s = 1e9, .latency_ns = 10}, .fixed_ns = 100};

LateBytes late(std::size_t bytes) { return std::make_shared<std::vector<unsigned char>>(bytes); }

std::vector<KeptPiece> known(const std::string& text) {
  const auto bytes = std::make_shared<std::vector<unsigned char>>(text.begin(), text.end());
  return {{.bytes = bytes->size(), .source = bytes}};
}

std::string text(const LateBytes& bytes) { return {bytes->begin(), bytes->end()}; }

Tasks all_reduce(std::size_t bytes) {
  return {.collectives = {{.kind = Collective::kAllReduce, .bytes = bytes}}};
}

Tasks message(bool receives, int peer, std::size_t bytes) {
  return {.messages = {{.receives = receives, .peer = peer, .bytes = bytes}}};
}

class MemberTest : public testing::Test {
 protected:
  MemberTest() {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("unstarve-member-" + std::to_string(::getpid()));
    std::filesystem::remove(path);
    io::Files files;
    for (int rank = 0; rank < 2; ++rank) {
      const Seat seat{.ranks = 2, .rank = rank, .device = rank};
      (rank == 0 ? first_ : second_) =
          std::make_shared<Member>(Meeting::join(path, seat, files).value(), kTiming);
    }
  }

  std::shared_ptr<Member> first_;
  std::shared_ptr<Member> second_;
};

TEST_F(MemberTest, ACollectiveBeginsWithTheLastAndEndsForAllAtOnce) {
  const auto first = first_->begin(all_reduce(1000));
  const auto second = second_->begin(all_reduce(1000));
  EXPECT_FALSE(first->ask(5'000));
  EXPECT_FALSE(first->ask(5'000));
  EXPECT_FALSE(first_->idle());
  // 2 * 1/2 * 1000 bytes at 1 byte/ns, two steps, and what each operation takes.
  EXPECT_EQ(second->ask(7'000), 7'000 + 1'000 + 20 + 100);
  EXPECT_EQ(first->ask(5'000), 8'120);
  EXPECT_TRUE(first_->idle());
}

TEST_F(MemberTest, WhatARankDoesRunsOneAfterTheOther) {
  const auto early = first_->begin(all_reduce(8));
  const auto late = first_->begin(all_reduce(8));
  EXPECT_FALSE(late->ask(100)) << "its stream is faster, but not its turn";
  const auto others_early = second_->begin(all_reduce(8));
  const auto others_late = second_->begin(all_reduce(8));
  EXPECT_FALSE(others_early->ask(50));
  EXPECT_EQ(early->ask(1'000), 1'128);
  EXPECT_FALSE(late->ask(100));
  EXPECT_EQ(others_early->ask(50), 1'128);
  EXPECT_EQ(others_late->ask(1'128), 1'256);
}

TEST_F(MemberTest, SmallBytesTravelAndAreReduced) {
  Tasks tasks;
  tasks.collectives = {{.kind = Collective::kAllReduce, .type = Element::kU8, .bytes = 3},
                       {.kind = Collective::kAllGather, .type = Element::kU8, .bytes = 2}};
  Tasks others = tasks;
  tasks.collectives[0].known = known("\1\2\3");
  tasks.collectives[0].result = late(3);
  tasks.collectives[1].known = known("ab");
  tasks.collectives[1].result = late(4);
  others.collectives[0].known = known("\10\20\30");
  others.collectives[1].known = known("cd");
  const auto first = first_->begin(tasks);
  const auto second = second_->begin(others);
  EXPECT_FALSE(second->ask(0));
  EXPECT_TRUE(first->ask(0));
  EXPECT_EQ(text(tasks.collectives[0].result), "\11\22\33");
  EXPECT_EQ(text(tasks.collectives[1].result), "abcd");
}

TEST_F(MemberTest, ACollectiveOfWhatNobodyKnowsIsZeros) {
  Tasks tasks = all_reduce(4);
  tasks.collectives[0].result = late(4);
  const auto first = first_->begin(tasks);
  const auto second = second_->begin(all_reduce(4));
  EXPECT_FALSE(second->ask(0));
  EXPECT_TRUE(first->ask(0));
  EXPECT_EQ(*tasks.collectives[0].result, std::vector<unsigned char>(4));
}

TEST_F(MemberTest, RanksThatDisagreeHangAndSayWhyUntilTheyAbort) {
  const auto first = first_->begin(all_reduce(8));
  const auto second = second_->begin(all_reduce(16));
  EXPECT_FALSE(first->ask(10));
  EXPECT_FALSE(second->ask(10));
  EXPECT_FALSE(first->ask(10));
  EXPECT_NE(first_->failure()->find("different collectives"), std::string::npos);
  first_->abort();
  EXPECT_EQ(first->ask(10), 10);
  EXPECT_TRUE(first_->idle());
  EXPECT_EQ(first_->begin(all_reduce(8))->ask(20), 20);
}

TEST_F(MemberTest, ASmallMessageLeavesAtOnce) {
  Tasks out = message(false, 1, 5);
  out.messages[0].known = known("hello");
  const auto send = first_->begin(out);
  EXPECT_EQ(send->ask(1'000), 1'000 + 5 + 10 + 100);
  Tasks in = message(true, 0, 5);
  in.messages[0].result = late(5);
  EXPECT_EQ(second_->begin(in)->ask(400), 1'115);
  EXPECT_EQ(text(in.messages[0].result), "hello");
}

TEST_F(MemberTest, ALargeMessageWaitsForItsReceiver) {
  const auto send = first_->begin(message(false, 1, 1'000'000));
  const auto receive = second_->begin(message(true, 0, 1'000'000));
  EXPECT_FALSE(send->ask(1'000));
  EXPECT_EQ(receive->ask(5'000), 1'005'110);
  EXPECT_EQ(send->ask(1'000), 1'005'110);
}

TEST_F(MemberTest, MessagesOfOneGroupGoAtTheSameTime) {
  const auto both = [](int peer) {
    Tasks tasks;
    tasks.messages = {{.receives = false, .peer = peer, .bytes = 100'000},
                      {.receives = true, .peer = peer, .bytes = 100'000}};
    return tasks;
  };
  const auto first = first_->begin(both(1));
  const auto second = second_->begin(both(0));
  EXPECT_FALSE(first->ask(0));
  EXPECT_FALSE(second->ask(0)) << "the other has not taken the message yet";
  EXPECT_EQ(first->ask(0), 100'110);
  EXPECT_EQ(second->ask(0), 100'110);
}

TEST_F(MemberTest, MessagesOfAnotherLengthAreAFailure) {
  const auto send = first_->begin(message(false, 1, 8));
  EXPECT_TRUE(send->ask(0));
  EXPECT_FALSE(second_->begin(message(true, 0, 4))->ask(0));
  EXPECT_EQ(*second_->failure(), "rank 0 sent 8 bytes where 4 were to be received");
}

TEST_F(MemberTest, AGraphRunsItsNodesAgain) {
  const auto first = first_->pattern(all_reduce(8));
  const auto second = second_->pattern(all_reduce(8));
  EXPECT_TRUE(first_->idle()) << "a pattern is not run";
  for (const std::int64_t at : {1'000, 2'000}) {
    const auto repeat = first->again();
    const auto other = second->again();
    EXPECT_FALSE(repeat->ask(at));
    EXPECT_EQ(other->ask(at), at + 128);
    EXPECT_EQ(repeat->ask(at), at + 128);
  }
}

}  // namespace
}  // namespace unstarve::emulated
