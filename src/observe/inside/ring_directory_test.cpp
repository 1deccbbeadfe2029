#include "observe/inside/ring_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/ring/mapped_ring.h"
#include "base/testing/test_folder.h"
#include "base/unique_handle.h"
#include "trace/testing/recorded_rows.h"

namespace unstarve::observe {
namespace {

/// Lets this process open no more than `more` files for as long as it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const FileDescriptor lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + more;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(RingDirectory, WhatItHasNoFilesLeftForIsSaidOnceAndReadLater) {
  const TestFolder folder;
  std::vector<RingWriter> writers;
  for (const char* name : {"hook-1-1.ring", "hook-2-1.ring"}) {
    auto ring = RingWriter::create(folder.path() + "/" + name, {});
    ASSERT_TRUE(ring) << ring.error().message;
    writers.push_back(std::move(*ring));
  }
  RingDirectory rings(folder.path());
  // The sanitizer looks at a type that it meets for the first time through descriptors.
  EXPECT_FALSE(trace::list_rings(folder.path() + "/hook-1-1.ring"));
  for (const rlim_t more : {0U, 1U}) {  // the folder cannot be listed; one ring can be opened
    {
      const FewFiles few(more);
      for (int look = 0; look < 60; ++look) rings.discover();
    }
    EXPECT_THAT(rings.remarks(),
                testing::ElementsAre(testing::HasSubstr("start it with a higher `ulimit -n`")));
    EXPECT_EQ(rings.open_rings(), more);
  }
  rings.discover();
  EXPECT_EQ(rings.open_rings(), 2U);
}

}  // namespace
}  // namespace unstarve::observe
