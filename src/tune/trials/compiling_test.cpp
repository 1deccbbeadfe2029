#include "tune/trials/compiling.h"

#include <gtest/gtest.h>

namespace unstarve::tune {
namespace {

using Indices = std::vector<std::size_t>;

TEST(Compiling, TheStepThatHoldsItIsLeftOut) {
  const std::vector<trace::Interval> steps = {{100, 1100}, {1100, 1150}, {1150, 1200}};
  EXPECT_EQ(steps_without_compiling(steps, {{98, 1103}}), (Indices{1, 2}));
  EXPECT_EQ(steps_without_compiling(steps, {{102, 1098}}), (Indices{1, 2}));
  EXPECT_EQ(steps_without_compiling(steps, {}), (Indices{0, 1, 2}));
}

TEST(Compiling, AStepOfSeveralOptimizersIsLeftOutForOneOfThem) {
  EXPECT_EQ(steps_without_compiling({{0, 500}, {500, 550}, {550, 600}}, {{200, 501}}),
            (Indices{1, 2}));
}

TEST(Compiling, WhatTheWarmUpHeldIsInNoStep) {
  EXPECT_EQ(steps_without_compiling({{500, 550}, {550, 600}}, {{0, 499}}), (Indices{0, 1}));
}

TEST(Compiling, WhereAllCompiledAllAreKept) {
  EXPECT_EQ(steps_without_compiling({{0, 50}, {50, 100}, {100, 150}}, {{0, 50}, {50, 100}}),
            (Indices{0, 1, 2}));
}

}  // namespace
}  // namespace unstarve::tune
