// Jobs with a planted cause, since no public trace shows these causes clearly: the shares follow
// from the plan, and the finding on top has to be the planted one.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "advise/advice.h"
#include "advise/catalogue.h"
#include "diagnose/diagnose.h"
#include "golden/planted_job.h"
#include "observe/import/kineto.h"

namespace unstarve::golden {
namespace {

using diagnose::Diagnosis;
using diagnose::Finding;
using diagnose::HostSignals;

constexpr int kSteps = 20;

trace::Timeline play(const std::function<void(PlantedJob&)>& step) {
  PlantedJob job;
  for (int i = 0; i < kSteps; ++i) {
    job.begin_step();
    step(job);
    job.end_step();
  }
  return job.take();
}

Diagnosis diagnose_it(const trace::Timeline& timeline, const HostSignals& host = {}) {
  const Diagnosis diagnosis = diagnose::diagnose(timeline, host);
  EXPECT_TRUE(diagnosis.partition);
  EXPECT_FALSE(diagnosis.findings.empty());
  return diagnosis;
}

void expect_top(const Diagnosis& diagnosis, const std::string& cause, const std::string& detail,
                double share) {
  const Finding& top = diagnosis.findings.at(0);
  EXPECT_EQ(top.cause, cause);
  EXPECT_EQ(top.detail, detail);
  EXPECT_NEAR(top.share, share, 0.02);
  EXPECT_EQ(top.confidence, diagnose::Confidence::kClear);
}

/// For the finding with the largest share.
std::optional<advise::Remedy> find_remedy(const Diagnosis& diagnosis, const std::string& id) {
  const advise::JobFacts job;
  for (const advise::Remedy& remedy :
       advise::offers({diagnosis.signals, job}, diagnosis.findings.at(0).reasons)) {
    if (remedy.id == id) return remedy;
  }
  return std::nullopt;
}

trace::LoaderConfig loader(std::int64_t workers) {
  trace::LoaderConfig config;
  config.num_workers = workers;
  config.batch_size = 64;
  return config;
}

// 60.5 ms of the host for 40 ms of the device: of each wait but the first the last 20.5 ms are
// exposed, of the first all 60.
constexpr double kStarved = (60 + (kSteps - 1) * 20.5) / (kSteps * 60.5);
void starve(PlantedJob& job) {
  job.wait(60'000);
  job.kernels(100, 400, 5);
}

TEST(PlantedCauses, TooFewWorkers) {
  trace::Timeline timeline = play(starve);
  timeline.loaders.push_back(loader(2));
  HostSignals host;
  host.effective_cpus = 8.0;
  host.job_cpu_cores = 3.0;
  const Diagnosis found = diagnose_it(timeline, host);
  expect_top(found, "input_wait", "too_few_workers", kStarved);
  EXPECT_NEAR((*found.partition).gpu_compute, 1 - kStarved, 0.02);
  EXPECT_FALSE(find_remedy(found, "fewer_workers"));
}

TEST(PlantedCauses, DecodingInTheTrainingThread) {
  trace::Timeline timeline = play([](PlantedJob& job) {
    job.fetch(60'000, 0.98, 0.7, 0.05);
    job.kernels(100, 400, 5);
  });
  timeline.loaders.push_back(loader(0));
  HostSignals host;
  host.effective_cpus = 2.0;
  host.job_cpu_cores = 1.05;
  const Diagnosis found = diagnose_it(timeline, host);
  expect_top(found, "input_wait", "decode_cpu", kStarved);
  const auto more = find_remedy(found, "more_workers");
  ASSERT_TRUE(more);
  EXPECT_EQ(more->values.at("num_workers"), 2);
  EXPECT_FALSE(more->predicted);

  const std::string verdict =
      advise::advise(found, {}, {{{"more_workers", {1.4, 1.2, 1.6}}}, {}}).verdict;
  EXPECT_NE(verdict.find("predicted 1.40x faster, 1.20 to 1.60"), std::string::npos) << verdict;
}

TEST(PlantedCauses, NoMoreWorkersWhenTheCpusAreBusy) {
  trace::Timeline timeline = play(starve);
  timeline.loaders.push_back(loader(8));
  HostSignals host;
  host.effective_cpus = 2.0;
  host.job_cpu_cores = 1.98;
  const Diagnosis found = diagnose_it(timeline, host);
  expect_top(found, "input_wait", "too_many_workers", kStarved);
  EXPECT_FALSE(find_remedy(found, "more_workers"));
  EXPECT_TRUE(find_remedy(found, "unstarve_loader"));
  const auto fewer = find_remedy(found, "fewer_workers");
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->values.at("num_workers"), 2);
}

// 20 ms of kernels, a wait for them, then 20 ms of Python with nothing queued.
TEST(PlantedCauses, SynchroniseInEveryStep) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.kernels(40, 500, 5);
    job.synchronize();
    job.host(20'000);
  }));
  expect_top(found, "sync", "", 0.48);
  EXPECT_TRUE(find_remedy(found, "remove_sync"));
}

// Old profilers number what the framework does, not the calls: the causes are the same.
TEST(PlantedCauses, WithExternalIdsInPlaceOfCorrelations) {
  std::string json = to_kineto_json(play([](PlantedJob& job) {
    job.kernels(40, 500, 5);
    job.synchronize();
    job.host(20'000);
  }));
  const std::string number = "\"correlation\"";
  for (std::size_t at = json.find(number); at != std::string::npos; at = json.find(number, at)) {
    json.replace(at, number.size(), "\"External id\"");
  }
  const auto timeline = observe::import_kineto_bytes(json, "old.json");
  ASSERT_TRUE(timeline);
  expect_top(diagnose_it(*timeline), "sync", "", 0.48);
}

TEST(PlantedCauses, ItemInEveryStep) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.kernels(40, 500, 5);
    job.item();
    job.host(20'000);
  }));
  expect_top(found, "sync", "read_back", 0.48);
}

TEST(PlantedCauses, PageableCopies) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.copy_in(19'000'000, 10'000, true);
    job.kernels(75, 400, 5);
  }));
  expect_top(found, "exposed_copy", "pageable", 0.25);
  EXPECT_EQ(found.copies.h2d_count, kSteps);
  EXPECT_EQ(*found.copies.pageable_ratio, 1.0);
  EXPECT_TRUE(find_remedy(found, "pin_memory"));
}

TEST(PlantedCauses, ManySmallCopies) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    for (int i = 0; i < 50; ++i) job.copy_in(4096, 200, false);
    job.kernels(75, 400, 5);
    job.host(39'370);
  }));
  expect_top(found, "exposed_copy", "small_copies", 0.25);
}

TEST(PlantedCauses, PinnedCopiesOnTheComputingStream) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.copy_in(100'000'000, 10'000, false);
    job.kernels(75, 400, 5);
    job.host(39'600);
  }));
  expect_top(found, "exposed_copy", "no_overlap", 0.25);
}

TEST(PlantedCauses, ExposedAllReduce) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.kernels(50, 600, 5);
    job.all_reduce(15'000, true);
    job.host(44'700);
  }));
  expect_top(found, "exposed_communication", "", 15.0 / 45);
}

TEST(PlantedCauses, HiddenAllReduceIsNoCause) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.all_reduce(15'000, false);
    job.kernels(50, 600, 5);
    job.host(29'800);
  }));
  expect_top(found, "gpu_busy", "low_precision_unused", 0.99);
}

// 3 us of kernel for 14 us of launch call and Python.
TEST(PlantedCauses, TinyKernels) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    for (int i = 0; i < 500; ++i) {
      job.kernels(1, 3, 4);
      job.host(10);
    }
  }));
  expect_top(found, "launch", "launch_bound", 11.0 / 14);
  EXPECT_TRUE(find_remedy(found, "cuda_graphs_or_compile"));
}

/// Steps of 200 short kernels with a wait each, and in every fifth 200 ms of the host alone.
trace::Timeline with_long_gaps() {
  int number = 0;
  return play([&number](PlantedJob& job) {
    job.kernels(200, 100, 5);
    job.item();
    if (++number % 5 == 3) job.host(200'000);
  });
}

TEST(PlantedCauses, FewLongGapsAreNoMatterOfLaunching) {
  trace::Timeline timeline = with_long_gaps();
  Diagnosis found = diagnose_it(timeline);
  expect_top(found, "launch", "host_work", 40.0 / 60);
  EXPECT_TRUE(find_remedy(found, "move_host_work"));
  EXPECT_FALSE(find_remedy(found, "cuda_graphs_or_compile"));
  EXPECT_FALSE(find_remedy(found, "larger_batch"));

  for (std::size_t i = 2; i < timeline.steps.size(); i += 5) {
    const trace::Step& step = timeline.steps[i];
    trace::HostWork work;
    work.when = {step.when.end_ns - 190'000'000, step.when.end_ns};
    work.process = step.process;
    work.thread = step.thread;
    timeline.host_work.push_back(work);
  }
  found = diagnose_it(timeline);
  expect_top(found, "launch", "host_work", 40.0 / 60);
  EXPECT_EQ(find_remedy(found, "move_host_work")->how.find("Collect garbage less often"), 0U);
}

TEST(PlantedCauses, TinyKernelsLaunchedJustAhead) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) { job.kernels(500, 5, 4.5); }));
  EXPECT_LT((*found.partition).kernel_wait, 0.01);
}

TEST(PlantedCauses, BusyGpu) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.wait(2'000, 3);
    job.kernels(100, 500, 5);
    job.host(47'600);
  }));
  expect_top(found, "gpu_busy", "low_precision_unused", 0.99);  // of sgemm kernels alone
}

// 10 ms of waiting and 9 ms of Python, both exposed: neither stands out.
TEST(PlantedCauses, TwoCausesOfTheSameSizeAreAmbiguous) {
  const Diagnosis found = diagnose_it(play([](PlantedJob& job) {
    job.kernels(40, 500, 5);
    job.synchronize();
    job.wait(10'000);
    job.host(9'000);
  }));
  EXPECT_EQ(found.findings[0].cause, "input_wait");
  EXPECT_EQ(found.findings[0].confidence, diagnose::Confidence::kAmbiguous);
}

TEST(PlantedCauses, SurviveTheWayThroughAKinetoTrace) {
  const trace::Timeline timeline = play([](PlantedJob& job) {
    job.wait(12'000);
    job.copy_in(19'000'000, 5'000, true);
    job.kernels(300, 20, 30);
    job.all_reduce(4'000, true);
    job.item();
    job.host(3'000);
  });
  const std::string json = to_kineto_json(timeline);
  const auto read = observe::import_kineto_bytes(json, "planted.json");
  ASSERT_TRUE(read) << read.error().message;
  const Diagnosis direct = diagnose_it(timeline);
  const Diagnosis imported = diagnose_it(*read);
  const auto expect_same = [&](double diagnose::Partition::*share) {
    EXPECT_NEAR((*direct.partition).*share, (*imported.partition).*share, 1e-6);
    EXPECT_GT((*direct.partition).*share, 0.0);
  };
  expect_same(&diagnose::Partition::gpu_compute);
  expect_same(&diagnose::Partition::exposed_communication);
  expect_same(&diagnose::Partition::exposed_copy);
  expect_same(&diagnose::Partition::input_wait);
  expect_same(&diagnose::Partition::sync);
  expect_same(&diagnose::Partition::launch);
  EXPECT_EQ(direct.findings[0].cause, imported.findings[0].cause);
  EXPECT_EQ(advise::advise(direct, {}, {}).verdict, advise::advise(imported, {}, {}).verdict);
}

}  // namespace
}  // namespace unstarve::golden
