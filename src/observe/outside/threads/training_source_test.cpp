#include "observe/outside/threads/training_source.h"
#include "base/units.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "observe/outside/threads/testing/source_test.h"

namespace unstarve::observe {
namespace {

/// Threads of a recorded machine.
class TrainingSourceTest : public SourceTest {
 protected:
  void set_waited(std::int64_t pid, std::int64_t waited_ns) {
    std::filesystem::create_directories(task_of(pid));
    std::ofstream(task_of(pid) + "/schedstat") << "5000 " << waited_ns << " 7\n";
  }
  void second() {
    source_.sample({10 * number_, number_ * kSecondNs, true}, *book_);
    ++number_;
  }
  Reading<double> ratio() const { return book_->latest("job.training_cpu_wait_ratio", "job"); }

  TrainingSource source_{files_};
  std::int64_t number_ = 0;
};

TEST_F(TrainingSourceTest, IsTheMeanOfTheThreadsThatTrain) {
  set_waited(7, 0);
  set_waited(8, 0);
  set_waited(9, 0);
  source_.note(7, 7);
  source_.note(8, 8);
  second();
  EXPECT_FALSE(ratio()) << "one reading tells no growth";
  set_waited(7, kSecondNs / 2);
  set_waited(9, kSecondNs);  // nobody said that this one trains
  second();
  ASSERT_TRUE(ratio());
  EXPECT_NEAR(*ratio(), 0.25, 1e-9);
}

TEST_F(TrainingSourceTest, AThreadThatEndedIsForgotten) {
  set_waited(7, 0);
  source_.note(7, 7);
  second();
  std::filesystem::remove_all(task_of(7));
  second();
  EXPECT_FALSE(ratio());
}

TEST_F(TrainingSourceTest, AFileOfAnotherFormatSaysNothing) {
  std::filesystem::create_directories(task_of(7));
  std::ofstream(task_of(7) + "/schedstat") << "none\n";
  source_.note(7, 7);
  second();
  second();
  EXPECT_EQ(ratio().why_absent(), WhyAbsent::kNotSupported);
}

}  // namespace
}  // namespace unstarve::observe
