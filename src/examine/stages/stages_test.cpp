#include "examine/stages/stages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trace/run_writer.h"

namespace unstarve::examine {
namespace {

constexpr std::int64_t kStageSecond = 1'000'000'000;

class StagesTest : public testing::Test {
 protected:
  StagesTest() : parent_(testing::TempDir() + fmt::format("stages-{}", ::getpid())) {}
  ~StagesTest() override { std::filesystem::remove_all(parent_); }

  void write(const std::string& stage, std::int64_t started_s, std::int64_t seconds) {
    const auto folder = stage_folder(parent_, "night", stage);
    ASSERT_TRUE(folder) << folder.error().message;
    trace::RunInfo info;
    info.started_wall_ns = started_s * kStageSecond;
    info.started_ns = kStageSecond;
    auto run = trace::RunWriter::create(*folder, info, {});
    ASSERT_TRUE(run) << run.error().message;
    (*run)->put("stage", stage);
    trace::FindingRow finding;
    finding.cause = "input_wait";
    finding.share = 0.5;
    (*run)->add(finding);
    ASSERT_TRUE((*run)->finish(kStageSecond + seconds * kStageSecond, stage == "infer" ? 3 : 0));
  }

  std::string parent_;
};

TEST_F(StagesTest, AreReadAsTheyBeganAndTheLongestMatters) {
  write("train", 200, 40);
  write("preprocess", 100, 10);
  write("train", 300, 50);
  write("infer", 400, 1);
  const std::vector<Stage> stages = read_stages(parent_ + "/night");
  ASSERT_EQ(stages.size(), 4U);
  EXPECT_EQ(stages[0].name, "preprocess");
  EXPECT_EQ(stages[1].name, "train");
  EXPECT_EQ(stages[2].name, "train-2");
  EXPECT_EQ(stages[3].name, "infer");
  EXPECT_EQ(longest_stage(stages), 2U);
  EXPECT_DOUBLE_EQ(*stages[1].duration_s, 40);
  EXPECT_EQ(*stages[3].exit_code, 3);
  EXPECT_EQ(stages[0].cause, "input_wait");
  // A stage alone is a run, and no folder of them.
  EXPECT_TRUE(read_stages(stages[0].run_dir).empty());
  EXPECT_TRUE(read_stages(parent_ + "/nowhere").empty());
}

TEST_F(StagesTest, AnIdIsThePlainNameOfAFolder) {
  for (const char* id : {"", "..", ".hidden", "a/b", "a b", "a\nb"}) {
    EXPECT_FALSE(stage_folder(parent_, id, "train")) << id;
  }
  EXPECT_TRUE(stage_folder(parent_, "Night-2026_05.1", "train"));
}

}  // namespace
}  // namespace unstarve::examine
