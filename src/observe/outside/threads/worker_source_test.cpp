#include "observe/outside/threads/worker_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "host/procfs.h"

namespace unstarve::observe {
namespace {

/// Processes of a recorded machine, whose first threads fetch.
class WorkerSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = trace::RunWriter::create(folder_.path() + "/run", {}, {});
    ASSERT_TRUE(made);
    writer_ = std::move(*made);
    book_ = std::make_unique<SampleBook>(*writer_);
  }
  /// Seconds of CPU so far, of all threads and of the first.
  void set_used(std::int64_t pid, double process_s, double thread_s) {
    const std::string process = folder_.path() + "/root/proc/" + std::to_string(pid);
    const std::string thread = process + "/task/" + std::to_string(pid);
    std::filesystem::create_directories(thread);
    write_stat(process, pid, process_s);
    write_stat(thread, pid, thread_s);
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

  TestFolder folder_;
  host::HostFiles files_{folder_.path() + "/root"};
  std::unique_ptr<trace::RunWriter> writer_;
  std::unique_ptr<SampleBook> book_;
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
  std::filesystem::remove_all(folder_.path() + "/root/proc/9");
  second();
  EXPECT_NEAR(*cores(), 0.5, 1e-9);
  EXPECT_NEAR(*fetching(), 0.25, 1e-9);
}

}  // namespace
}  // namespace unstarve::observe
