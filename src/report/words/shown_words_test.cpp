#include <gtest/gtest.h>

#include <string>

#include "report/words/changed_part.h"
#include "report/words/shown_paths.h"

namespace unstarve::report {
namespace {

TEST(ShownPaths, AreFromTheJobsFolderOn) {
  EXPECT_EQ(relative_paths("`pack /a/job/data /a/job/data-shards` (/a/job)", "/a/job"),
            "`pack data data-shards` (.)");
  EXPECT_EQ(relative_paths("/a/jobs/x /b", "/a/job"), "/a/jobs/x /b");
  EXPECT_EQ(relative_paths("/a/job/x", ""), "/a/job/x");
}

TEST(ShownPaths, PlacesAreNamedFromTheScriptsFolderOn) {
  const std::string text =
      "at /a/job/lib/train.py:41 (`open(\"/a/job/x\")`), /b/y.py:3, /a/job:7: /a/job/f.py:8.";
  EXPECT_EQ(relative_places(text, "/a/job"),
            "at lib/train.py:41 (`open(\"/a/job/x\")`), /b/y.py:3, /a/job:7: f.py:8.");
  EXPECT_EQ(relative_places(text, ""), text);
  EXPECT_EQ(common_folder({"/a/job/lib/data.py:3", "", "/a/job/train.py:1", "b.py:2"}), "/a/job");
  EXPECT_EQ(common_folder({"/a/job/train.py:1", "/a/jobs/data.py:3"}), "") << "that is /a";
  EXPECT_EQ(common_folder({"/a/job/x/train.py:1"}), "/a/job/x");
  EXPECT_EQ(common_folder({"train.py:1", "cell 3:8", "/a/b/c"}), "");
  EXPECT_EQ(common_folder({"/train.py:1", "/a/b/c.py:1"}), "");
}

TEST(ShownPaths, LoseTheMiddleOfTheirLongestName) {
  const std::string path = "runs/2026-11-28_05-36-46_a_job_with_a_name/data-shards";
  const std::string shown = short_paths("pack \"" + path + "\" now", 40);
  EXPECT_EQ(shown, "pack \"runs/2026-11-28_…with_a_name/data-shards\" now");
  EXPECT_EQ(short_paths("a/b " + std::string(60, 'x'), 40), "a/b " + std::string(60, 'x'));
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "/ab";
  const std::string cut = short_paths(deep + "/train.py:12", 40);
  EXPECT_EQ(cut.size(), 40 + std::string("…").size() - 1);
  EXPECT_TRUE(cut.ends_with("/train.py:12")) << cut;
}

TEST(ShownPaths, InPiecesAreAllOfTheText) {
  const std::string text = "pack runs/2026-11-28_05-36-46_a_job_with_a_name/data-shards now";
  const std::vector<ShownPart> parts = short_parts(text, 40);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(parts[1].is_cut);
  EXPECT_EQ(parts[0].text + parts[1].text + parts[2].text, text);
}

TEST(ShownPaths, CutBetweenCharacters) {
  std::string name = "/";
  for (int i = 0; i < 60; ++i) name += "é";
  const std::string cut = short_paths(name, 40);
  EXPECT_EQ(cut.find("\xC3…"), std::string::npos);
  EXPECT_EQ(cut.size(), 1 + 2 * 38 + std::string("…").size());
}

std::string changed(const ChangedLine& line) {
  return line.text.substr(line.start, line.end - line.start);
}

TEST(ChangedPart, IsOfWholeNamesAndValues) {
  const auto lines = changed_lines("- a(b, num_workers=0)\n+ a(b, num_workers=12, c=4)\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(changed(lines[0]), "num_workers=0");
  EXPECT_EQ(changed(lines[1]), "num_workers=12, c=4");
}

TEST(ChangedPart, IsOfWholePaths) {
  const auto lines = changed_lines("-open('/data/a/x.npy')\n+open('/data/b/x.npy')\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(changed(lines[0]), "/data/a/x.npy");
  EXPECT_EQ(changed(lines[1]), "/data/b/x.npy");
}

TEST(ChangedPart, IsAllOfALineWithoutACounterpart) {
  const auto lines = changed_lines("+import x\n-a\n-b\n+c\n+\n");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(changed(lines[0]), "import x");
  EXPECT_EQ(changed(lines[1]), "a");
  EXPECT_EQ(changed(lines[3]), "c");
  EXPECT_EQ(changed(lines[4]), "");
  EXPECT_TRUE(changed_lines("").empty());
}

TEST(ChangedPart, IsNeverCutOff) {
  const std::string far(300, 'x');
  const auto lines = changed_lines("-" + far + " = 1 " + far + "\n+" + far + " = 2 " + far);
  const std::string shown = around_the_change(lines[0], 60, "…");
  EXPECT_NE(shown.find("= 1 x"), std::string::npos) << shown;
  EXPECT_TRUE(shown.starts_with("- …x")) << shown;
  EXPECT_TRUE(shown.ends_with("x…")) << shown;
  EXPECT_LE(shown.size(), 60U);
  EXPECT_EQ(around_the_change(lines[0], 1000, "…"), lines[0].text);
  const ChangedLine whole = {"+" + far, 1, 301};
  EXPECT_EQ(around_the_change(whole, 60, "…"), whole.text);
}

TEST(ChangedPart, OfADiffLeavesOutWhatStandsAround) {
  EXPECT_EQ(lines_that_change("--- a\n+++ b\n@@ -1 +1 @@\n c\n-d\n+e\n"), "-d\n+e\n");
}

}  // namespace
}  // namespace unstarve::report
