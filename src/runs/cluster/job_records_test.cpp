#include "runs/cluster/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "trace/text/packed_text.h"

namespace unstarve::runs {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A summary that jobstats itself made, as its authors show one
// (github.com/jdh4/jobstats, README.md, GPL-2): four nodes, of which one has no figures of CPUs.
constexpr const char* kOfJobstats =
    "JS1:H4sIAH+lZmIC/8WSywqDMBBF/yVrK5NJzMOfEalBAvGBJotW/PdGa0vFlYvicmbOzOWQTKTtKjOSfCKVca68Wcpr"
    "Spfad750RWOabniQnKPmWkjUAhISRlN9J5QCAnBEnmw73jaG5KgRMMWE3PsQA2jcq/tQ7M9OBHa35ze0C1gZwRRkKmIf"
    "wltnn6W3XbsRMMfRjwQ7KSGFlFQdJKjOUnWVhDj7EJxxBkcHptPsKge+tP8dOB/+npYrHoX9EMz8AoVh1T3pAgAA";

std::string packed(const char* prefix, const Json& record) {
  return prefix + *trace::pack_text(record.dump());
}

/// A node of jobstats' with one figure for each GPU.
Json node(const Json& use, double cpus, double cpu_s) {
  Json memory = Json::object();
  for (const auto& [gpu, value] : use.items()) memory[gpu] = 80e9;
  return {{"cpus", cpus},       {"total_time", cpu_s},       {"gpu_utilization", use},
          {"used_memory", 1e9}, {"gpu_used_memory", memory}, {"gpu_total_memory", memory}};
}

std::string table(const std::vector<std::pair<std::string, std::string>>& jobs) {
  std::string text = "JobID|User|AdminComment|JobName\n";
  for (const auto& [job, comment] : jobs) text += job + "|ada|" + comment + "|train|v2\n";
  return text;
}

TEST(JobRecords, ReadsWhatJobstatsWrote) {
  const auto records = read_job_records(table({{"40409215", kOfJobstats}}));
  ASSERT_TRUE(records);
  ASSERT_EQ(records->jobs.size(), 1U);
  const JobRecord& job = records->jobs.front();
  EXPECT_EQ(job.job, "40409215");
  EXPECT_EQ(job.name, "train|v2");
  EXPECT_TRUE(job.by_jobstats);
  EXPECT_FALSE(job.watched);
  EXPECT_EQ(job.gpus.value_or(0), 4);
  EXPECT_EQ(job.gpu_use_ratio.value_or(-1), 0);
  EXPECT_DOUBLE_EQ(job.elapsed_s.value_or(0), 29297);
  EXPECT_DOUBLE_EQ(job.idle_gpu_hours.value_or(0), 4 * 29297 / 3600.0);
  EXPECT_DOUBLE_EQ(job.gpu_memory_bytes.value_or(0), 4 * 42949672960.0);
  EXPECT_DOUBLE_EQ(job.cpus.value_or(0), 30);  // of the three nodes that have them
  EXPECT_NEAR(job.cpu_cores.value_or(0), 2.99, 0.005);
}

TEST(JobRecords, TheMostIdleComesFirstAndWhatIsNotKnownLast) {
  const Json half = {{"total_time", 3600},
                     {"gpus", 2},
                     {"nodes", {{"a", node({{"0", 50.0}, {"1", 100.0}}, 8, 3600)}}}};
  const Json idle = {
      {"total_time", 7200}, {"gpus", 1}, {"nodes", {{"a", node({{"0", 10.0}}, 8, 3600)}}}};
  // MIG has no utilisation.
  Json split = {{"total_time", 360000}, {"gpus", 1}, {"nodes", {{"a", node({{"0", 10.0}}, 8, 1)}}}};
  split["nodes"]["a"].erase("gpu_utilization");
  const auto records = read_job_records(table(
      {{"1", packed("JS1:", split)}, {"2", packed("JS1:", half)}, {"3", packed("JS1:", idle)}}));
  ASSERT_TRUE(records);
  std::vector<std::string> jobs;
  for (const JobRecord& job : records->jobs) jobs.push_back(job.job);
  EXPECT_THAT(jobs, ElementsAre("3", "2", "1"));
  EXPECT_DOUBLE_EQ(records->jobs[0].idle_gpu_hours.value_or(0), 1.8);
  EXPECT_DOUBLE_EQ(records->jobs[1].gpu_use_ratio.value_or(0), 0.75);
  EXPECT_DOUBLE_EQ(records->jobs[1].idle_gpu_hours.value_or(0), 0.5);
  EXPECT_FALSE(records->jobs[2].idle_gpu_hours);
  EXPECT_DOUBLE_EQ(records->jobs[2].gpu_hours.value_or(0), 100);
}

TEST(JobRecords, AMeanOverSomeGpusIsNone) {
  const Json record = {
      {"total_time", 3600}, {"gpus", 2}, {"nodes", {{"a", node({{"0", 50.0}}, 8, 3600)}}}};
  const auto records = read_job_records(table({{"1", packed("JS1:", record)}}));
  ASSERT_TRUE(records);
  EXPECT_DOUBLE_EQ(records->jobs.at(0).gpu_hours.value_or(0), 2);
  EXPECT_FALSE(records->jobs.at(0).gpu_use_ratio);
  EXPECT_FALSE(records->jobs.at(0).idle_gpu_hours);
}

TEST(JobRecords, OurSummarySaysWhyBesideJobstats) {
  const Json theirs = {
      {"total_time", 3600}, {"gpus", 1}, {"nodes", {{"a", node({{"0", 90.0}}, 8, 3600)}}}};
  const Json ours = {
      {"run", "r"},       {"verdict", "it waits for data"}, {"cause", "input_wait"},
      {"share", 0.83},    {"change", "more_workers"},       {"gain", {1.7, 1.2, 2.0}},
      {"gpu_hours", 1.0}, {"idle_gpu_hours", 0.8}};
  const auto records =
      read_job_records(table({{"1", packed("JS1:", theirs) + " " + packed("unstarve1:", ours)},
                              {"2", packed("unstarve1:", ours)}}));
  ASSERT_TRUE(records);
  ASSERT_EQ(records->jobs.size(), 2U);
  const JobRecord& both = records->jobs[0];
  EXPECT_TRUE(both.by_jobstats);
  EXPECT_TRUE(both.watched);
  EXPECT_DOUBLE_EQ(both.gpu_use_ratio.value_or(0), 0.9);
  EXPECT_DOUBLE_EQ(both.idle_gpu_hours.value_or(0), 0.8);  // what was watched knows better
  EXPECT_EQ(both.said.cause, "input_wait");
  EXPECT_DOUBLE_EQ(both.said.gain.value_or(0), 1.7);
  EXPECT_FALSE(records->jobs[1].by_jobstats);
  EXPECT_FALSE(records->jobs[1].gpus);
}

TEST(JobRecords, CountsWhatIsLeftOut) {
  const Json no_gpu = {
      {"total_time", 3600}, {"gpus", false}, {"nodes", {{"a", node(Json::object(), 8, 3600)}}}};
  const auto records = read_job_records(table({{"1", "JS1:Short"},
                                               {"2", "JS1:None"},
                                               {"3", ""},
                                               {"3.batch", ""},
                                               {"4", packed("JS1:", no_gpu)},
                                               {"5", std::string(kOfJobstats).substr(0, 200)},
                                               {"6", packed("JS1:", Json::array())}}));
  ASSERT_TRUE(records);
  EXPECT_TRUE(records->jobs.empty());
  EXPECT_EQ(records->without_record, 3U);
  EXPECT_EQ(records->without_gpu, 1U);
  EXPECT_EQ(records->unreadable, 2U);
  EXPECT_EQ(records->first_unreadable, "5");
}

TEST(JobRecords, TakesNoOtherTable) {
  for (const char* const other : {"", "JobID|User\n1|ada\n", "JobID AdminComment\n"}) {
    const auto records = read_job_records(other);
    ASSERT_FALSE(records);
    EXPECT_THAT(records.error().message, HasSubstr("sacct -X -P -o"));
  }
}

}  // namespace
}  // namespace unstarve::runs
