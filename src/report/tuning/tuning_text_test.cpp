#include "report/tuning/tuning_text.h"

#include <gtest/gtest.h>

namespace unstarve::report {
namespace {

tune::TuneResult with_one_lever() {
  tune::TuneResult result;
  result.noise_ratio = 0.01;
  result.baseline.mean_step_s = 0.1;
  result.baseline.device = "cpu";
  result.baseline.shares = {.optimizer = 0.2, .system = 0.1, .products = 0.5};
  tune::LeverResult lever;
  lever.lever.id = "kept_memory";
  lever.lever.permanent = "variables of the environment";
  lever.tried = true;
  lever.outcome = tune::Outcome::kKept;
  lever.speedup = predict::Speedup{1.08, 1.05, 1.1};
  lever.at_most = 1 / 0.9;
  lever.peak_memory_bytes = 1 << 30;
  lever.why = tune::ReasonKind::kFaster;
  result.levers = {lever};
  result.kept = {"kept_memory"};
  result.best = lever.speedup;
  return result;
}

TextOptions columns(int width) {
  TextOptions options;
  options.width = width;
  return options;
}

TEST(TuningText, WordsStandBesideTheirRowOrBelowIt) {
  const std::string wide = render_tuning(with_one_lever(), columns(140));
  EXPECT_NE(wide.find("1.08x [1.05..1.10]      1.11x  1.00 GiB  not needed    kept: faster"),
            std::string::npos)
      << wide;
  const std::string narrow = render_tuning(with_one_lever(), columns(80));
  EXPECT_NE(narrow.find("not needed\n      kept: faster, same results\n"), std::string::npos)
      << narrow;
}

TEST(TuningText, SaysHowRunsAsItIsDiffer) {
  tune::TuneResult result = with_one_lever();
  result.as_it_is_s = {0.08, 0.12, 0.11};
  const std::string text = render_tuning(result, columns(140));
  EXPECT_NE(text.find("110 ms a step on cpu (80.0 ms to 120 ms in 3 runs)"), std::string::npos)
      << text;
}

TEST(TuningText, SaysWhatCameOfATrial) {
  tune::TrialResult trial;
  trial.losses = {2.3, 2.2};
  EXPECT_EQ(trial_words(trial), "2 losses and the first gradient");
  trial.mean_step_s = 0.0413;
  EXPECT_EQ(trial_words(trial), "41.3 ms a step");
  trial.ending = tune::Ending::kOutOfMemory;
  EXPECT_EQ(trial_words(trial), "out_of_memory");
}

TEST(TuningText, SaysWhatAStepOnACpuTakesItsTimeFor) {
  const std::string text = render_tuning(with_one_lever(), columns(140));
  EXPECT_NE(text.find("Of that: 50 % products of matrices, 20 % the optimizer, 10 % the system"),
            std::string::npos)
      << text;
}

TEST(TuningText, RowsThatNoLoaderCallsSamplesAreCalledRows) {
  tune::TuneResult result = with_one_lever();
  result.baseline.samples_per_step = 35;
  EXPECT_NE(render_tuning(result, columns(140)).find(" samples/s"), std::string::npos);
  result.baseline.samples_are_rows = true;
  const std::string text = render_tuning(result, columns(140));
  EXPECT_NE(text.find(" rows/s of the model's input"), std::string::npos) << text;
  EXPECT_EQ(text.find("samples/s"), std::string::npos) << text;
}

TEST(TuningText, AKeptVariableIsPartOfACommandForAShell) {
  tune::TuneResult result = with_one_lever();
  result.command = {{{"MALLOC_MMAP_MAX_", "0"}}, {"torchrun", "my train.py", "--workers", "4"}};
  EXPECT_NE(render_tuning(result, columns(140))
                .find("as a command: MALLOC_MMAP_MAX_=0 torchrun 'my train.py' --workers 4"),
            std::string::npos);
  EXPECT_EQ(kept_command({}), "");
}

}  // namespace
}  // namespace unstarve::report
