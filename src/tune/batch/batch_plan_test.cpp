#include "tune/batch/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace unstarve::tune {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A job on a GPU of 40 GiB: 2 GiB, and so much for each sample.
struct Job {
  std::function<double(std::int64_t)> per_sample_s;
  std::int64_t fixed_bytes = 2048 * kMiB;
  std::int64_t sample_bytes = 300 * kMiB;
  std::int64_t most_bytes = 38 * 1024 * kMiB;
  bool tells_memory = true;
  std::vector<std::int64_t> tried = {};

  BatchPoint measure(std::int64_t size) {
    const std::int64_t bytes = fixed_bytes + size * sample_bytes;
    BatchPoint point;
    point.size = size;
    point.fits = bytes <= most_bytes;
    point.per_sample_s = per_sample_s(size);
    point.memory_bytes = tells_memory ? bytes : 0;
    return point;
  }
  std::int64_t best(std::int64_t start) {
    BatchPlan plan(measure(start), tells_memory ? most_bytes : 0);
    while (const auto size = plan.next()) {
      tried.push_back(*size);
      plan.add(measure(*size));
    }
    return plan.by_speed().front().size;
  }
};

double saturating(std::int64_t size) { return 1e-3 + 20e-3 / static_cast<double>(size); }

TEST(BatchPlan, FindsTheLargestThatFitsWhereLargerIsFaster) {
  Job job{saturating};
  EXPECT_EQ(job.best(16), 120) << "(38 - 2) GiB / 300 MiB is 122; a multiple of 8";
  EXPECT_EQ(job.tried, (std::vector<std::int64_t>{32, 64, 120}));
}

TEST(BatchPlan, WithoutMemoryInNumbersItClosesInOnTheFirstFailure) {
  Job job{saturating};
  job.tells_memory = false;
  const std::int64_t best = job.best(16);
  EXPECT_GE(best, 108);
  EXPECT_LE(best, 122);
  EXPECT_LE(job.tried.size(), 8U);
}

TEST(BatchPlan, SaysWhetherMemoryEndsIt) {
  const auto ends = [](Job job) {
    BatchPlan plan(job.measure(16), job.most_bytes);
    while (const auto size = plan.next()) plan.add(job.measure(*size));
    return plan.is_limited_by_memory();
  };
  EXPECT_TRUE(ends({saturating}));
  EXPECT_FALSE(ends({[](std::int64_t size) { return size > 32 ? 2e-3 : 1e-3; }}));
  EXPECT_FALSE(ends({saturating, 2048 * kMiB, 1024})) << "there is room for any";
}

TEST(BatchPlan, OneDipDoesNotEndIt) {
  Job job{[](std::int64_t size) { return saturating(size) * (size == 32 ? 1.4 : 1.0); }};
  EXPECT_EQ(job.best(16), 120);
}

TEST(BatchPlan, StopsWhereASampleGetsNoCheaper) {
  Job job{[](std::int64_t size) { return size > 64 ? 2e-3 + 1e-5 * double(size) : 2e-3; }};
  job.sample_bytes = kMiB;
  EXPECT_LE(job.best(16), 64);
  EXPECT_LE(job.tried.size(), 6U);
}

TEST(BatchPlan, ASmallerBatchIsTriedWhereNoLargerOneIsFaster) {
  Job job{[](std::int64_t size) { return 1e-3 * static_cast<double>(size); }};
  EXPECT_EQ(job.best(16), 8);
}

TEST(BatchPlan, ASizeBetweenMayBeTheBest) {
  Job job{[](std::int64_t size) { return size == 48 ? 1e-3 : size == 32 ? 1.1e-3 : 1.3e-3; }};
  EXPECT_EQ(job.best(16), 48);
}

TEST(BatchPlan, SmallBatchesAreNotAligned) {
  Job job{saturating};
  job.sample_bytes = 6000 * kMiB;  // six fit
  EXPECT_EQ(job.best(2), 6);
}

// Lightning's power search answers its upper bound without having run it.
TEST(BatchPlan, NeverNamesASizeThatWasNotMeasured) {
  for (const std::int64_t start : {1, 5, 16, 100}) {
    Job job{saturating};
    const std::int64_t best = job.best(start);
    job.tried.push_back(start);
    EXPECT_NE(std::find(job.tried.begin(), job.tried.end(), best), job.tried.end()) << start;
  }
}

// A fit without an intercept (a straight line of the logarithms) puts the limit at 3,324 for what a
// YOLO took: 0.285 GB with one image, 1.197 GB with sixteen (ultralytics, issue 1451).
TEST(BatchPlan, WhatAJobTakesBesideItsSamplesIsNotMultiplied) {
  const auto point = [](std::int64_t size, double gb) {
    return BatchPoint{size, true, 1e-3, static_cast<std::int64_t>(gb * 1e9)};
  };
  BatchPlan plan(point(1, 0.285), static_cast<std::int64_t>(0.6 * 23.7e9));
  EXPECT_FALSE(plan.largest_by_model()) << "one size tells no slope";
  plan.add(point(16, 1.197));
  EXPECT_NEAR(static_cast<double>(*plan.largest_by_model()), 230, 5);
}

TEST(BatchPlan, FarFromTheBestItTakesLongerStrides) {
  // A step takes 10 ms, whatever it holds, up to 64 samples.
  const auto point = [](std::int64_t size) {
    return BatchPoint{
        size, true,
        0.01 * std::max(1.0, static_cast<double>(size) / 64) / static_cast<double>(size)};
  };
  BatchPlan plan(point(1), 0);
  std::vector<std::int64_t> sizes;
  while (const auto size = plan.next()) {
    sizes.push_back(*size);
    plan.add(point(*size));
  }
  EXPECT_EQ(std::vector<std::int64_t>(sizes.begin(), sizes.begin() + 4),
            (std::vector<std::int64_t>{2, 8, 32, 128}));
  EXPECT_EQ(plan.by_speed().front().size, 128);
}

TEST(BatchPlan, AlwaysEnds) {
  for (const std::int64_t start : {1, 2, 3, 7, 24, 1000}) {
    for (const std::int64_t each : {1, 50, 700, 30000}) {
      Job job{saturating};
      job.sample_bytes = each * kMiB;
      job.most_bytes = std::max(job.most_bytes, job.fixed_bytes + start * job.sample_bytes);
      const std::int64_t best = job.best(start);
      EXPECT_LE(job.tried.size(), 14U);
      EXPECT_LE(job.fixed_bytes + best * job.sample_bytes, job.most_bytes);
    }
  }
}

}  // namespace
}  // namespace unstarve::tune
