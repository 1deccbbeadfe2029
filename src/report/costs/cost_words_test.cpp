#include "report/costs/cost_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/costs/cost_json.h"
#include "report/testing/sample_cost.h"

namespace unstarve::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CostWords, HaveAsManyDigitsAsTell) {
  EXPECT_EQ(usd_text(1460.4), "$1460");
  EXPECT_EQ(usd_text(4.1), "$4.10");
  EXPECT_EQ(usd_text(0.0055), "$0.0055");
  EXPECT_EQ(usd_text(0), "$0.00");
  EXPECT_EQ(usd_text(1e-6), "<$0.0001");
  EXPECT_EQ(usd_text(-2), "-$2.00");
  EXPECT_EQ(gpu_hours_text(0.42), "0.42 GPU-hours");
  EXPECT_EQ(gpu_hours_text(0.05), "3.00 GPU-minutes");
  EXPECT_EQ(gpu_hours_text(12.2 / 3600), "12.2 GPU-seconds");
  EXPECT_EQ(gpu_time_text(12.2 / 3600), "12.2 s");
  EXPECT_EQ(energy_text(0.83), "0.83 kWh");
  EXPECT_EQ(energy_text(0.0124), "12.4 Wh");
  EXPECT_EQ(energy_text(1e-5), "36.0 J");
  EXPECT_EQ(mass_text(1.2), "1.20 kg");
  EXPECT_EQ(mass_text(0.038), "38.0 g");
}

TEST(CostSentence, SaysWhatIdleTimeCostAndWhatTheChangeGivesBack) {
  cost::Usage usage = sample::usage();
  usage.gpus[0].emulated = false;
  usage.seconds[1] = usage.gpus[0].seconds[1] = 3600;
  usage.gpus[0].energy[1] = {360e3, 1};
  cost::Rates rates = cost::default_rates();
  rates.price = cost::Rate{2, "--price"};
  const cost::Cost cost = cost::cost_of(usage, rates, cost::Change{"x", {2, 1.9, 2.1}, false});
  EXPECT_EQ(cost_label(cost), "Idle");
  EXPECT_EQ(cost_sentence(cost),
            "82 % of 1.00 GPU-hours of training: $1.63, up to 81.7 Wh and 38.8 g CO2e; the change "
            "would give back $1.00, in a month of it $730.");
  EXPECT_EQ(given_back_sentence(cost),
            "The change would give back 0.50 GPU-hours and $1.00 of this run; 365 GPU-hours and "
            "$730 in a month of such training.");
  EXPECT_THAT(cost_notes(cost), testing::Contains("This would come back by x, predicted 2.00x "
                                                  "faster, 1.90 to 2.10. A month is 730 hours of "
                                                  "such training."));
}

TEST(CostSentence, SecondsOfTrainingSayNothingOfAMonth) {
  cost::Usage usage = sample::usage();
  usage.seconds[1] = usage.gpus[0].seconds[1] = 59;
  cost::Rates rates = cost::default_rates();
  rates.price = cost::Rate{2, "--price"};
  const cost::Cost cost = cost::cost_of(usage, rates, cost::Change{"x", {2, 1.9, 2.1}, false});
  EXPECT_THAT(cost_sentence(cost), Not(HasSubstr("month")));
  EXPECT_EQ(given_back_sentence(cost),
            "The change would give back 29.5 GPU-seconds and $0.016 of this run (modelled).");
}

TEST(CostSentence, OfAnEmulatedGpuSaysSo) {
  EXPECT_THAT(cost_sentence(sample::cost_of_report()), HasSubstr("(modelled)"));
  EXPECT_THAT(cost_sentence(sample::cost_of_report()), HasSubstr("the change gives back $"));
}

TEST(CostSentence, WithoutAPriceSpeaksOfGpuHours) {
  cost::Usage usage = sample::usage();
  usage.gpus[0].name = "Tesla T4";
  usage.seconds[1] = usage.gpus[0].seconds[1] = 72;
  const cost::Cost cost =
      cost::cost_of(usage, cost::default_rates(), cost::Change{"x", {2, 1.9, 2.1}, false});
  EXPECT_THAT(cost_sentence(cost),
              HasSubstr("would give back 36.0 GPU-seconds, in a month of it 365"));
  EXPECT_EQ(given_back_sentence(cost),
            "The change would give back 36.0 GPU-seconds of this run; 365 GPU-hours in a "
            "month of such training (modelled).");
  EXPECT_THAT(cost_sentence(cost), Not(HasSubstr("$")));
  EXPECT_THAT(cost_notes(cost), testing::Contains(HasSubstr("No price is known")));
}

TEST(CostSentence, IsEmptyForAJobWithoutAGpu) {
  EXPECT_EQ(cost_sentence(sample::cost_of_host_report()), "");
}

TEST(CostNotes, NameEverySourceAndWhatIsAbsent) {
  const auto notes = cost_notes(sample::cost_of_report());
  EXPECT_THAT(notes, testing::Contains(HasSubstr("list price of Lambda")));
  EXPECT_THAT(notes, testing::Contains(
                         HasSubstr("since they are emulated. It was read in 76 % of the time")));
  EXPECT_THAT(notes, testing::Contains("The processors' energy (RAPL) is absent: no permission."));
  EXPECT_THAT(notes, testing::Contains(HasSubstr("world average by the IEA")));
}

TEST(CostJson, HasWhatIsAbsentWithItsReason) {
  const auto json = cost_json(sample::cost_of_report());
  EXPECT_EQ(json.at("gpu").at("energy_by"), "modelled");
  EXPECT_EQ(json.at("cpu").at("kwh").at("absent"), "no_permission");
  EXPECT_EQ(json.at("start_up").at("kwh").at("absent"), "not_observed");
  EXPECT_NEAR(json.at("by_cause").at("input_wait").at("gpu_hours").get<double>(),
              0.794 * 12.2 / 3600, 1e-9);
  EXPECT_EQ(json.at("given_back").at("change"), "unstarve_loader");
  const auto on_cpu = cost_json(sample::cost_of_host_report());
  EXPECT_EQ(on_cpu.at("gpus"), 0);
  EXPECT_FALSE(on_cpu.contains("idle"));
  EXPECT_NEAR(on_cpu.at("total").at("kwh").get<double>(), 0.01, 1e-12);
}

}  // namespace
}  // namespace unstarve::report
