#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/testing/test_folder.h"
#include "host/host_files.h"
#include "observe/outside/samples/sample_book.h"
#include "trace/run_writer.h"

namespace unstarve::observe {

/// Files of a recorded machine, and a book for what a source says of them.
class SourceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = trace::RunWriter::create(folder_.path() + "/run", {}, {});
    ASSERT_TRUE(made);
    writer_ = std::move(*made);
    book_ = std::make_unique<SampleBook>(*writer_);
  }
  /// The folder of a process.
  std::string process(std::int64_t pid) const {
    return folder_.path() + "/root/proc/" + std::to_string(pid);
  }
  /// The folder of its first thread.
  std::string task_of(std::int64_t pid) const {
    return process(pid) + "/task/" + std::to_string(pid);
  }

  TestFolder folder_;
  host::HostFiles files_{folder_.path() + "/root"};
  std::unique_ptr<trace::RunWriter> writer_;
  std::unique_ptr<SampleBook> book_;
};

}  // namespace unstarve::observe
