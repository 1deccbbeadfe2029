#include "trial/permanent/source_diff.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"
#include "trial/permanent/python_call.h"

namespace unstarve::trial {
namespace {

LoaderChange workers() { return {{{"num_workers", "8"}, {"prefetch_factor", "4"}}, false}; }

TEST(SourceDiff, AnArgumentThatIsGivenGetsAnotherValueAndOthersAreAdded) {
  const std::string source =
      "import torch\n"
      "loader = DataLoader(ds, 4, num_workers=2)  # (two\n";
  EXPECT_EQ(source_diff(source, 2, workers(), "train.py"),
            "--- train.py\n+++ train.py\n@@ -2,1 +2,1 @@\n"
            "-loader = DataLoader(ds, 4, num_workers=2)  # (two\n"
            "+loader = DataLoader(ds, 4, num_workers=8, prefetch_factor=4)  # (two\n");
}

TEST(SourceDiff, ACallOverSeveralLinesGetsALineMore) {
  const std::string source =
      "loader = DataLoader(\n"
      "    dataset,  # of (photos\n"
      "    batch_size=max(4, size),\n"
      ")\n";
  EXPECT_EQ(source_diff(source, 2, workers(), "a.py"),
            "--- a.py\n+++ a.py\n@@ -3,1 +3,2 @@\n"
            "-    batch_size=max(4, size),\n"
            "+    batch_size=max(4, size),\n"
            "+    num_workers=8, prefetch_factor=4,\n");
}

TEST(SourceDiff, ACommentBehindTheLastArgumentStaysBehindIt) {
  EXPECT_EQ(
      source_diff("DataLoader(\n    ds,\n    batch_size=4  # a, (few\n)\n", 1, workers(), "a.py"),
      "--- a.py\n+++ a.py\n@@ -3,1 +3,1 @@\n"
      "-    batch_size=4  # a, (few\n"
      "+    batch_size=4, num_workers=8, prefetch_factor=4  # a, (few\n");
  EXPECT_EQ(source_diff("DataLoader(\n    # those\n    num_workers=2,  # two\n)\n", 1,
                        {{{"num_workers", "8"}}, false}, "a.py"),
            "--- a.py\n+++ a.py\n@@ -3,1 +3,1 @@\n"
            "-    num_workers=2,  # two\n"
            "+    num_workers=8,  # two\n");
}

TEST(SourceDiff, StringsAndOtherCallsAreNotTakenForTheLoader) {
  const std::string source =
      "print('DataLoader(a)', \"\"\"DataLoader(\n\"\"\"); x = DataLoader(f(',)'), shuffle=True)\n";
  EXPECT_EQ(source_diff(source, 2, {{{"num_workers", "1"}}, false}, "a.py"),
            "--- a.py\n+++ a.py\n@@ -2,1 +2,1 @@\n"
            "-\"\"\"); x = DataLoader(f(',)'), shuffle=True)\n"
            "+\"\"\"); x = DataLoader(f(',)'), shuffle=True, num_workers=1)\n");
  EXPECT_EQ(source_diff("make(DataLoader, ds)\n", 1, workers(), "a.py"), "");
  EXPECT_EQ(source_diff("DataLoader(ds\n", 1, workers(), "a.py"), "") << "it does not end";
}

TEST(SourceDiff, WhatMayBeGivenElsewhereIsLeftToWords) {
  EXPECT_EQ(source_diff("DataLoader(ds, **options)\n", 1, workers(), "a.py"), "");
  EXPECT_EQ(source_diff("DataLoader(ds, 4, True, None, None, 2)\n", 1, workers(), "a.py"), "");
}

TEST(SourceDiff, TheDropInComesByItsImport) {
  const std::string source =
      "from torch.utils.data import DataLoader, Dataset\n"
      "\n"
      "loader = DataLoader(ds)\n";
  EXPECT_EQ(source_diff(source, 3, {{{"pin_memory", "True"}}, true}, "a.py"),
            "--- a.py\n+++ a.py\n@@ -1,1 +1,2 @@\n"
            "-from torch.utils.data import DataLoader, Dataset\n"
            "+from torch.utils.data import Dataset\n"
            "+from unstarve import DataLoader\n"
            "@@ -3,1 +4,1 @@\n"
            "-loader = DataLoader(ds)\n"
            "+loader = DataLoader(ds, pin_memory=True)\n");
}

TEST(SourceDiff, TheDropInComesByTheNameThatIsCalled) {
  const std::string source =
      "import torch\n"
      "loader = torch.utils.data.DataLoader(ds)\n";
  EXPECT_EQ(source_diff(source, 2, {{}, true}, "a.py"),
            "--- a.py\n+++ a.py\n@@ -1,2 +1,3 @@\n"
            "-import torch\n"
            "-loader = torch.utils.data.DataLoader(ds)\n"
            "+import unstarve\n"
            "+import torch\n"
            "+loader = unstarve.DataLoader(ds)\n");
  EXPECT_EQ(source_diff("from mine import DataLoader\nDataLoader(d)\n", 2, {{}, true}, "a.py"), "");
}

TEST(SourceDiff, AChangedFileIsWholeAndIsNamedFromHere) {
  const TestFolder folder;
  const std::string file = folder.path() + "/train.py";
  std::ofstream(file) << "import torch\nloader = DataLoader(ds)\nprint(loader)\n";
  const LoaderChange change = {{{"num_workers", "1"}}, false};
  const auto elsewhere = change_source(file, "train.py:2", change);
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->text,
            "import torch\nloader = DataLoader(ds, num_workers=1)\nprint(loader)\n");
  EXPECT_EQ(elsewhere->diff.find("--- " + file + "\n"), 0U) << elsewhere->diff;
  const std::filesystem::path back = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(folder.path()).parent_path());
  const auto below = change_source(file, "train.py:2", change);
  std::filesystem::current_path(back);
  const std::string name = std::filesystem::path(folder.path()).filename().string() + "/train.py";
  ASSERT_TRUE(below);
  EXPECT_EQ(below->diff.find("--- " + name + "\n+++ " + name + "\n"), 0U) << below->diff;
}

TEST(SourceDiff, NothingIsSaidOfAPlaceThatCannotBeRead) {
  EXPECT_FALSE(change_source("/nowhere/cell 3", "cell 3:8", workers()));
  EXPECT_FALSE(change_source("/nowhere/train.py", "/nowhere/train.py:8", workers()));
  EXPECT_FALSE(change_source("/", "train.py:2", workers()));
  EXPECT_FALSE(change_source("", "train.py:2", workers()));
  EXPECT_FALSE(change_source("/nowhere/train.py", "train.py", workers()));
}

}  // namespace
}  // namespace unstarve::trial
