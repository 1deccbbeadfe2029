#include "observe/outside/live_view.h"

#include <gtest/gtest.h>

#include "base/testing/test_folder.h"
#include "trace/run_writer.h"

namespace unstarve::observe {
namespace {

TEST(LiveView, StepsOfOneAreThoseOfTheProcessThatMadeMost) {
  const TestFolder folder;
  const auto writer = trace::RunWriter::create(folder.path() + "/run", {}, {});
  ASSERT_TRUE(writer) << writer.error().message;
  const host::HostFiles files;
  FetchSource fetches(files);
  LibrarySource libraries(files, {});
  TrainingSource training(files);
  WorkerSource workers(files);
  CountingSink sink(**writer, fetches, libraries, training, workers);
  trace::StepRow step;
  step.when = {1, 2};
  for (const std::int64_t pid : {10, 10, 11, 10, 12, 11}) {  // 11 and 12 evaluate
    step.pid = pid;
    sink.add(step);
  }
  EXPECT_EQ(sink.counts().steps, 6);
  EXPECT_EQ(sink.counts().steps_of_one, 3);
  EXPECT_EQ(sink.counts().training_processes, 3);
}

}  // namespace
}  // namespace unstarve::observe
