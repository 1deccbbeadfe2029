#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace unstarve::tune {
namespace {

using testing::of;
using testing::PlantedJob;

/// Offers changes of these names, whatever came of the others.
class Offering {
 public:
  explicit Offering(std::vector<std::string> ids) : ids_(std::move(ids)) {}

  TuneResult search(PlantedJob& job) {
    SearchOptions options;
    options.write = job.write;
    options.next = [this](const std::vector<std::string>& kept) {
      kept_at.push_back(kept);
      if (kept_at.size() > ids_.size()) return Result<std::optional<Lever>>(std::nullopt);
      Lever lever;
      lever.id = ids_[kept_at.size() - 1];
      return Result<std::optional<Lever>>(std::move(lever));
    };
    SearchListener listener;
    auto result = tune::search(job, options, listener);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    if (result) testing::expect_decided(*result);
    return result ? *std::move(result) : TuneResult();
  }

  std::vector<std::vector<std::string>> kept_at;  // each time that it was asked

 private:
  std::vector<std::string> ids_;
};

TEST(Offers, EachIsTriedOnTopOfWhatIsKept) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  job.factor["pin"] = 0.8;
  Offering offering({"workers", "pin"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(result.kept, (std::vector<std::string>{"workers", "pin"}));
  EXPECT_EQ(offering.kept_at,
            (std::vector<std::vector<std::string>>{{}, {"workers"}, {"workers", "pin"}}));
  EXPECT_NEAR(result.best->speedup, 1 / (0.5 * 0.8), 0.01) << "of both, over the job as it is";
  const GainOnTop& pin = *of(result, "pin").on_top;
  EXPECT_NEAR(pin.speedup.speedup, 1 / 0.8, 0.01) << "over the job with workers";
  EXPECT_EQ(pin.runs.opening, "workers");
  EXPECT_EQ(pin.runs.with, "pin");
  EXPECT_EQ(pin.runs.again, "pin.without");
  EXPECT_EQ(result.kept_run, "pin") << "the last one with both, and nothing else";
}

TEST(Offers, NothingElseIsTriedAndNoResultsAreCompared) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  Offering offering({"workers"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(job.made,
            (std::vector<std::string>{"baseline", "baseline.again", "workers", "workers.without"}))
      << "and it is far from what chance does";
  EXPECT_FALSE(result.own_results.were_compared);
  EXPECT_NEAR(result.best->speedup, 2, 0.01);
}

TEST(Offers, TheDiffOfOnePlainGainIsHeldAgainstTheLastRunOfTheJob) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  job.written_factor = 0.8;
  job.write = [](TuneResult& result) {
    result.patch.diff = "--- a";
    TrialRequest request;
    request.label = "as_written";
    request.levers = result.kept;
    request.as_written = true;
    return std::optional(request);
  };
  Offering offering({"workers"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(job.made.size(), 6U);
  EXPECT_EQ(result.patch.runs.opening, "workers.without");
  EXPECT_EQ(result.patch.runs.again, "as_written.after");
  EXPECT_NEAR(result.patch.gain->speedup, 1.25, 0.01);
}

TEST(Offers, ASmallGainIsConfirmed) {
  PlantedJob job;
  job.factor["workers"] = 0.95;
  Offering offering({"workers"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"workers"});
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "confirm"), 1);
}

TEST(Offers, WhatGainsNothingBesideALaterOneIsLeftOut) {
  PlantedJob job;
  job.factor["workers"] = 0.9;
  job.factor["native"] = 0.4;
  job.beside = [](const std::vector<std::string>& levers) {
    return levers.size() == 2 ? 1 / 0.9 : 1.0;  // together as fast as the second
  };
  Offering offering({"workers", "native"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"native"});
  EXPECT_EQ(of(result, "workers").outcome, Outcome::kNotBesideOthers);
  EXPECT_NEAR(result.best->speedup, 1 / 0.4, 0.01) << "over the job, and not over workers";
}

TEST(Offers, WhatIsSlowerOrNoGainIsNotKept) {
  PlantedJob job;
  job.factor["slow"] = 1.3;
  job.factor["none"] = 1.0;
  Offering offering({"slow", "none"});
  const TuneResult result = offering.search(job);
  EXPECT_TRUE(result.kept.empty());
  EXPECT_FALSE(result.best);
  EXPECT_EQ(of(result, "slow").outcome, Outcome::kSlower);
  EXPECT_EQ(of(result, "none").outcome, Outcome::kWithinNoise);
}

TEST(Offers, WhatDoesNotRunEndsNoSeries) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  job.plant["broken"] = [](TrialResult& result) {
    result.ending = Ending::kCrashed;
    result.why = "exit 1: no such module";
  };
  Offering offering({"broken", "workers"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"workers"});
  EXPECT_EQ(of(result, "broken").outcome, Outcome::kNotMeasured);
  EXPECT_TRUE(names(of(result, "broken").why, "no such module"));
  EXPECT_FALSE(of(result, "broken").on_top);
}

TEST(Offers, LessWorkIsNoGain) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  job.plant["workers"] = [](TrialResult& result) { result.samples_per_step = 8; };
  Offering offering({"workers"});
  const TuneResult result = offering.search(job);
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "workers").outcome, Outcome::kOtherWork);
  EXPECT_TRUE(holds(of(result, "workers").why, ReasonKind::kOtherSamples));
}

TEST(Offers, WhereNoTimeIsLeftWhatIsKeptStays) {
  PlantedJob job;
  job.factor["workers"] = 0.5;
  job.most_runs = 4;
  Offering offering({"workers", "pin"});
  const TuneResult result = offering.search(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"workers"});
  EXPECT_NE(result.unfinished, "");
}

}  // namespace
}  // namespace unstarve::tune
