#include "tune/trials/compiling.h"

#include <gtest/gtest.h>

namespace unstarve::tune {
namespace {

using Seconds = std::vector<double>;

const std::vector<trace::Interval> kSteps = {{100, 1100}, {1100, 1150}, {1150, 1240}};
const Seconds kTook = {1000, 50, 90};

TEST(Compiling, TheStepThatHoldsItIsAsTheOthers) {
  EXPECT_EQ(without_compiling(kTook, kSteps, {{98, 1103}}), (Seconds{70, 50, 90}));
  EXPECT_EQ(without_compiling(kTook, kSteps, {{102, 1098}}), (Seconds{70, 50, 90}));
  EXPECT_EQ(without_compiling(kTook, kSteps, {}), kTook);
}

TEST(Compiling, AStepOfSeveralOptimizersIsKnownByOneOfThem) {
  EXPECT_EQ(without_compiling(kTook, kSteps, {{500, 1101}}), (Seconds{70, 50, 90}));
}

TEST(Compiling, WhatTheWarmUpHeldIsInNoStep) {
  EXPECT_EQ(without_compiling(kTook, kSteps, {{0, 99}}), kTook);
}

TEST(Compiling, WhereAllCompiledNothingIsTypical) {
  EXPECT_EQ(without_compiling(kTook, kSteps, {{100, 1100}, {1100, 1150}}), kTook);
}

}  // namespace
}  // namespace unstarve::tune
