#include "report/tuning/reason_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace unstarve::report {
namespace {

using tune::Reason;
using tune::ReasonKind;

constexpr int kKinds = static_cast<int>(ReasonKind::kNoChangeAsWritten) + 1;

TEST(ReasonWords, EveryKindHasAName) {
  std::set<std::string> names;
  for (int kind = 1; kind < kKinds; ++kind) {
    const nlohmann::json reason = reason_json(static_cast<ReasonKind>(kind));
    ASSERT_TRUE(reason.is_object()) << kind;
    EXPECT_TRUE(names.insert(reason["kind"]).second) << reason;
  }
  EXPECT_EQ(reason_words({}), "");
  EXPECT_TRUE(reason_json({}).is_null());
}

TEST(ReasonWords, AreOfFiguresNamesAndOtherReasons) {
  const predict::Speedup speed = {1.204, 1.15, 1.26};
  EXPECT_EQ(reason_words({ReasonKind::kTooSmall,
                          {{"most", 1.0101}, {"eases", "optimizer"}, {"share", 0.01}}}),
            "at most 1.010x: the optimizer's step takes 1.0 % of a step");
  EXPECT_EQ(reason_words(
                {ReasonKind::kNoGainOnTop,
                 {{"levers", std::vector<std::string>{"threads=2", "compile"}}, {"speedup", speed}},
                 {ReasonKind::kFasterByItself}}),
            "faster by itself; on top of threads=2, compile it gains 1.204x [1.150..1.260]");
  EXPECT_EQ(reason_words({ReasonKind::kNotMeasuredAgain,
                          {},
                          {{ReasonKind::kNoCertainGain, {{"gain", 0.065}}},
                           tune::quoted("the budget is spent")}}),
            "no gain above 6.5 % is certain; not measured again: the budget is spent");
  EXPECT_EQ(reason_words({ReasonKind::kFirstGradientAway,
                          {{"away", 0.5}, {"reference", "in FP64"}, {"own", 2.3e-6}}}),
            "the first gradient is 50 % away from that in FP64; the job's own is 0.00023 %");
}

TEST(ReasonWords, OfMemoryAreInGiBAndTimes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  EXPECT_EQ(
      reason_words(
          {ReasonKind::kSavesMemory,
           {{"saved_bytes", 2.24 * kGiB}, {"of_bytes", 12.29 * kGiB}, {"times_as_long", 1.25}}}),
      "saves 2.24 of 12.29 GiB, and a step takes 1.25 times as long: for a larger batch "
      "alone");
  for (const auto& [times, words] : {std::pair{1.0, "1 time "}, std::pair{3.0, "3 times "}}) {
    EXPECT_NE(reason_words({ReasonKind::kRanOutOfMemory, {{"times", times}}}).find(words),
              std::string::npos);
  }
}

TEST(ReasonWords, OfATensorBeginWithItsName) {
  EXPECT_EQ(reason_words({ReasonKind::kTensorWay, {{"share", 0.33}, {"tensor", "head.bias"}}}),
            "head.bias is 33 % of its way off behind the first steps");
}

TEST(ReasonWords, JsonHasTheFiguresByTheirNames) {
  const Reason reason = {
      ReasonKind::kOtherResults, {}, {{ReasonKind::kFirstLossesDiffer, {{"difference", 0.25}}}}};
  EXPECT_EQ(reason_json(reason).dump(),
            R"({"because":[{"difference":0.25,"kind":"first_losses_differ"}],)"
            R"("kind":"other_results"})");
}

TEST(ReasonWords, OfTheJobsOwnRuns) {
  tune::OwnResults own;
  EXPECT_EQ(own_results_words(own), "");
  own.were_compared = own.are_repeatable = true;
  own.gradient_error = 1e-6;
  EXPECT_EQ(own_results_words(own),
            "two runs of one seed have the same losses; its first gradient is 0.0001 % away from "
            "that in FP64");
  own.why_not = ReasonKind::kLossesAreZero;
  EXPECT_EQ(own_results_words(own), "all losses are zero, as on an emulated GPU");
}

}  // namespace
}  // namespace unstarve::report
