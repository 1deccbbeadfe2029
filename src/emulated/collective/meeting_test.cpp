#include "emulated/collective/meeting.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

namespace unstarve::emulated {
namespace {

class MeetingTest : public testing::Test {
 protected:
  MeetingTest()
      : path_(std::filesystem::temp_directory_path() /
              ("unstarve-meeting-" + std::to_string(::getpid()))) {
    std::filesystem::remove(path_);
  }
  ~MeetingTest() override { std::filesystem::remove(path_); }

  Result<std::shared_ptr<Meeting>> join(int rank, int ranks, int device = -1) {
    const Seat seat{.ranks = ranks, .rank = rank, .device = device < 0 ? rank : device};
    return Meeting::join(path_, seat, files_);
  }

  std::filesystem::path path_;
  io::Files files_;
};

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(MeetingTest, IsCompleteWithTheLastRankWhoTakesTheFileAway) {
  const auto first = join(0, 2).value();
  EXPECT_FALSE(first->complete());
  EXPECT_TRUE(std::filesystem::exists(path_));
  const auto second = join(1, 2).value();
  EXPECT_TRUE(first->complete());
  EXPECT_TRUE(second->complete());
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(first->same_device());
}

TEST_F(MeetingTest, WhoGivesUpLeavesNoFile) {
  const auto only = join(0, 2).value();
  only->close(files_);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(MeetingTest, RefusesWhatCannotBe) {
  const auto first = join(0, 2).value();
  EXPECT_EQ(join(0, 2).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(join(1, 3).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(join(2, 2).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(join(-1, 2).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(join(0, 0).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(first->complete());
}

TEST_F(MeetingTest, FindsTwoRanksOnOneDevice) {
  const auto first = join(0, 3, 4).value();
  const auto second = join(1, 3, 5).value();
  const auto third = join(2, 3, 4).value();
  const auto same = second->same_device();
  ASSERT_TRUE(same);
  EXPECT_EQ(same->first.rank, 0);
  EXPECT_EQ(same->second.rank, 2);
  EXPECT_EQ(same->second.device, 4);
}

TEST_F(MeetingTest, ACollectiveIsAnnouncedByEachRankOnce) {
  const auto first = join(0, 2).value();
  const auto second = join(1, 2).value();
  first->announce(0, {.reached_ns = 100, .digest = 7, .carried = as_bytes("abc")});
  EXPECT_FALSE(first->announced(0, 1));
  const auto seen = second->announced(0, 0);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->reached_ns, 100);
  EXPECT_EQ(seen->digest, 7U);
  EXPECT_EQ(as_text(seen->carried), "abc");
  EXPECT_FALSE(second->announced(1, 0));
  second->announce(0, {.reached_ns = 50});
  first->announce(1, {.reached_ns = 200});
  EXPECT_TRUE(second->announced(0, 0)) << "the one before stays for who has not read it";
}

TEST_F(MeetingTest, MessagesWaitForRoomAndForTheReceiver) {
  const auto first = join(0, 2).value();
  const auto second = join(1, 2).value();
  for (std::uint64_t number = 0; number < 4; ++number) {
    EXPECT_TRUE(first->send(number, 1, {.reached_ns = 10}));
  }
  EXPECT_FALSE(first->send(4, 1, {}));
  EXPECT_FALSE(second->sent(0, 1)) << "its own";
  EXPECT_TRUE(second->sent(0, 0));
  EXPECT_FALSE(first->acknowledged(0, 1));
  second->acknowledge(0, 0, 99);
  EXPECT_EQ(first->acknowledged(0, 1), 99);
  EXPECT_TRUE(first->send(4, 1, {.carried = as_bytes("later")}));
  EXPECT_EQ(as_text(second->sent(4, 0)->carried), "later");
}

TEST_F(MeetingTest, WordsReachEverybody) {
  const auto first = join(0, 2).value();
  const auto second = join(1, 2).value();
  first->cast(0, {1, -5});
  EXPECT_EQ(second->cast_by(0, 0), (std::array<std::int64_t, 2>{1, -5}));
  EXPECT_FALSE(second->cast_by(0, 1));
  EXPECT_FALSE(second->cast_by(1, 0));
}

TEST_F(MeetingTest, ManyCollectivesInTwoSlots) {
  constexpr std::uint64_t kCollectives = 2000;
  const auto work = [&](int rank) {
    const auto meeting = join(rank, 3).value();
    for (std::uint64_t number = 0; number < kCollectives; ++number) {
      const std::string text = std::to_string(number) + " of " + std::to_string(rank);
      meeting->announce(number, {.digest = number, .carried = as_bytes(text)});
      for (int other = 0; other < 3; ++other) {
        std::optional<Arrival> seen;
        while (!(seen = meeting->announced(number, other))) std::this_thread::yield();
        ASSERT_EQ(as_text(seen->carried), std::to_string(number) + " of " + std::to_string(other));
      }
    }
  };
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.emplace_back(work, rank);
}

}  // namespace
}  // namespace unstarve::emulated
