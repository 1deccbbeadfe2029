#include "observe/outside/threads/worker_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/units.h"
#include "host/procfs.h"
#include "observe/outside/threads/testing/source_test.h"

namespace unstarve::observe {
namespace {

/// Processes of a recorded machine, whose first threads fetch.
class WorkerSourceTest : public SourceTest {
 protected:
  /// Seconds of CPU so far, of all threads and of the first.
  void set_used(std::int64_t pid, double process_s, double thread_s) {
    std::filesystem::create_directories(task_of(pid));
    write_stat(process(pid), pid, process_s);
    write_stat(task_of(pid), pid, thread_s);
  }
  void fetch(std::int64_t pid) {
    trace::FetchRow row;
    row.pid = row.thread = pid;
    source_.note(row);
  }
  void second() {
    source_.sample({10 * number_, number_ * kSecondNs, true}, *book_);
    ++number_;
  }
  Reading<double> cores() const { return book_->latest("job.worker_cpu_cores", "job"); }
  Reading<double> fetching() const { return book_->latest("job.worker_fetch_cpu_cores", "job"); }

  WorkerSource source_{files_};
  std::int64_t number_ = 0;

 private:
  static void write_stat(const std::string& folder, std::int64_t pid, double used_s) {
    std::ofstream(folder + "/stat")
        << pid << " (python) R 1 1 1 0 -1 0 0 0 0 0 "
        << static_cast<std::int64_t>(used_s * static_cast<double>(host::ticks_per_s()))
        << " 0 0 0 20 0 3 0 77 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
  }
};

TEST_F(WorkerSourceTest, TellsFetchingThreadsFromOthersOfTheirProcesses) {
  set_used(7, 10, 10);
  set_used(8, 10, 10);
  set_used(9, 10, 10);
  fetch(7);
  fetch(8);
  second();
  EXPECT_FALSE(cores()) << "one reading tells no growth";
  set_used(7, 10.9, 10.5);
  set_used(8, 10.5, 10.5);
  set_used(9, 19, 10);  // it fetches nothing
  second();
  EXPECT_NEAR(*cores(), 1.4, 1e-9);
  EXPECT_NEAR(*fetching(), 1.0, 1e-9);
}

TEST_F(WorkerSourceTest, LeavesOutWhoTrainsAndWhoHasEnded) {
  set_used(7, 0, 0);
  set_used(8, 0, 0);
  set_used(9, 0, 0);
  for (const std::int64_t pid : {7, 8, 9}) fetch(pid);
  source_.note_training(7);
  fetch(7);  // for an evaluation
  second();
  set_used(7, 5, 1);
  set_used(8, 0.5, 0.25);
  std::filesystem::remove_all(process(9));
  second();
  EXPECT_NEAR(*cores(), 0.5, 1e-9);
  EXPECT_NEAR(*fetching(), 0.25, 1e-9);
}

}  // namespace
}  // namespace unstarve::observe
