#include "tune/patch/loader_change.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"
#include "launch/job_python.h"

namespace unstarve::tune {
namespace {

TEST(LoaderChange, IsWrittenWhereTheJobMakesItsLoader) {
  const TestFolder folder;
  const std::string file = folder.path() + "/train.py";
  std::ofstream(file) << "import torch.utils.data as d\n"
                         "l = d.DataLoader(ds, num_workers=1)\n"
                         "m = d.DataLoader(ds, **options)\n";
  const std::string python = launch::find_job_python("python3", {}).program;
  const LoaderChange workers = {.arguments = {{"num_workers", "8"}}};
  const auto written = written_change(python, file, "train.py:2", workers);
  ASSERT_TRUE(written);
  EXPECT_NE(written->text.find("l = d.DataLoader(ds, num_workers=8)\n"), std::string::npos);
  EXPECT_NE(written->diff, "");
  const LoaderChange kept = {.cached = true};
  const auto cached = written_change(python, file, "train.py:2", kept);
  ASSERT_TRUE(cached);
  EXPECT_NE(cached->text.find("l = d.DataLoader(unstarve.cached(ds), num_workers=1)\n"),
            std::string::npos);
  EXPECT_EQ(in_words(kept, "train.py:2"),
            "unstarve.cached(...) around the data set of the DataLoader at train.py:2");
  const auto refused = written_change(python, file, "train.py:3", workers);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->diff, "");
  EXPECT_EQ(refused->refused.front(),
            "the call of DataLoader in line 3 takes arguments from **options");
  EXPECT_FALSE(written_change(python, file, "train.py:2", {})) << "nothing changes";
  EXPECT_FALSE(written_change(python, "", "train.py:2", workers));
  EXPECT_FALSE(written_change(python, file, "train.py", workers));
}

}  // namespace
}  // namespace unstarve::tune
