#include "emulated/process/shared_state.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::emulated {
namespace {

/// Runs `act` in a process of its own, which then is killed.
template <class Act>
void in_killed_process(Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

TEST(SharedStateTest, AProcessSeesWhatTheOthersUse) {
  const TestFolder folder;
  const auto ours = SharedState::open(folder.path(), 0);
  ours->use().memory_bytes.store(1000);
  EXPECT_EQ(ours->memory_of_others(), 0U);
  const auto theirs = SharedState::open(folder.path(), 0);
  // Another process's slot: that of our parent, who is alive.
  const Result<const SharedGpu*> shared = SharedState::look(folder.path(), 0);
  ASSERT_TRUE(shared);
  auto& slot = const_cast<GpuUse&>((*shared)->uses[0]);
  EXPECT_EQ(slot.memory_bytes, 1000U);
  EXPECT_EQ(theirs->memory_of_others(), 1000U);
}

TEST(SharedStateTest, AKilledProcessUsesNothingAndItsSlotIsTakenAgain) {
  const TestFolder folder;
  in_killed_process([&] {
    const auto state = SharedState::open(folder.path(), 0);
    state->use().memory_bytes.store(1 << 30);
    state->use().busy_until_ns.store(100);
  });
  const auto ours = SharedState::open(folder.path(), 0);
  EXPECT_EQ(ours->memory_of_others(), 0U);
  EXPECT_EQ(ours->others_busy(50), 1);
  EXPECT_EQ(ours->others_busy(100), 0);  // what it had to do is over
  ours->use();
  const Result<const SharedGpu*> shared = SharedState::look(folder.path(), 0);
  ASSERT_TRUE(shared);
  EXPECT_EQ((*shared)->uses[0].pid, ::getpid());
  EXPECT_EQ((*shared)->uses[0].memory_bytes, 0U);
}

TEST(SharedStateTest, WhoLeftUsesNothingWhateverItStillFrees) {
  const TestFolder folder;
  const auto ours = SharedState::open(folder.path(), 0);
  ours->use().memory_bytes.store(1000);
  ours->leave();
  ours->use().memory_bytes.store(500);
  const Result<const SharedGpu*> shared = SharedState::look(folder.path(), 0);
  ASSERT_TRUE(shared);
  EXPECT_EQ((*shared)->uses[0].pid, 0);
  EXPECT_EQ((*shared)->uses[0].memory_bytes, 0U);
}

TEST(SharedStateTest, WithoutAFolderAProcessIsAlone) {
  const auto alone = SharedState::open("", 0);
  alone->use().memory_bytes.store(1000);
  alone->totals().kernels.fetch_add(1);
  EXPECT_EQ(alone->memory_of_others(), 0U);
  const auto nowhere = SharedState::open("/nowhere/at/all", 0);
  nowhere->use().memory_bytes.store(1000);
  EXPECT_EQ(nowhere->others_busy(0), 0);
}

TEST(SharedStateTest, AGpuThatNobodyUsedCannotBeLookedAt) {
  const TestFolder folder;
  EXPECT_FALSE(SharedState::look(folder.path(), 0));
  std::ofstream(folder.path() + "/gpu-0") << "not a GPU";
  EXPECT_FALSE(SharedState::look(folder.path(), 0));
}

}  // namespace
}  // namespace unstarve::emulated
