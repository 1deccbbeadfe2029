#include "report/text/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "report/testing/golden.h"
#include "report/testing/sample_report.h"
#include "report/text/sections.h"

namespace unstarve::report {
namespace {

int widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  int widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

std::string without_colour(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

TEST(Text, MatchesTheGoldenFilesAtThreeWidths) {
  for (const int width : {60, 80, 120}) {
    TextOptions options;
    options.width = width;
    sample::expect_golden(fmt::format("report_{}.txt", width),
                          render_text(sample::report(), options));
  }
}

TEST(Text, MatchesTheGoldenFileOfAllThereIs) {
  const TextOptions options = {80, false, true, true};
  sample::expect_golden("report_verbose.txt", render_text(sample::report(), options));
}

TEST(Text, MatchesTheGoldenFileInAscii) {
  const TextOptions options = {80, false, false, true};
  const std::string text = render_text(sample::report(), options);
  sample::expect_golden("report_80_ascii.txt", text);
  for (const char c : text) EXPECT_TRUE((c >= 0x20 && c < 0x7f) || c == '\n');
}

TEST(Text, NoLineIsWiderThanTheTerminal) {
  for (int width = 40; width <= 160; ++width) {
    TextOptions options;
    options.width = width;
    for (const bool verbose : {false, true}) {
      options.verbose = verbose;
      EXPECT_LE(widest_line(render_text(sample::report(), options)), width);
      EXPECT_LE(widest_line(render_text(sample::hostile_report(), options)), width);
    }
  }
}

int count_lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Text, FromEightyColumnsOnThirteenLinesSayItAll) {
  Report tried = sample::report();
  tried.verification.clear();
  Report hostile = sample::hostile_report();
  hostile.verification.clear();
  for (int width = 80; width <= 120; ++width) {
    const TextOptions options = {width, false, true};
    EXPECT_LE(count_lines(render_text(tried, options)), 13);
    EXPECT_LE(count_lines(render_text(hostile, options)), 13);
    EXPECT_LE(count_lines(render_text(sample::host_report(), options)), 13);
  }
}

TEST(Text, ACauseAndAChangeAreToldInFull) {
  Report report = sample::report();
  report.verification.clear();
  report.advice.cause =
      "Input: 62 % of the time goes to a sampler that takes long before an epoch "
      "begins and between its batches, at a_script_with_a_long_name.py:141, and "
      "30 % to reading an array file at another_script_with_a_name.py:52, each "
      "time a whole chunk of 64 samples, in 2 workers.";
  report.advice.condition = std::string(150, 'w');
  report.advice.next_remedy = advise::Remedy{
      "chunks_of_samples",
      "Store the arrays in chunks of one sample (`chunks=(1, ...)`) or uncompressed, "
      "or read a batch by one call in `__getitems__`, which the DataLoader calls with "
      "all indices of a batch, and keep lengths beside them for the sampler: 62 % of "
      "making a batch is reading them, each time a whole chunk."};
  const std::string text = render_text(report, {80, false, true});
  EXPECT_EQ(text.find("…"), std::string::npos) << text;
  EXPECT_NE(text.find("in 2 workers."), std::string::npos) << text;
  EXPECT_NE(text.find("a whole chunk.\n"), std::string::npos) << text;
  EXPECT_LE(count_lines(text), 13) << text;
}

TEST(Text, WhatStillHasRoomIsSaidWhereALongerPartHasNone) {
  Report report = sample::report();
  report.advice.cause.clear();  // of six lines
  for (int i = 0; i < 6; ++i) report.advice.cause += std::string(60, 'a') + ' ';
  report.advice.condition = std::string(210, 'b');
  const std::string text = text_brief(report, {80});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13) << text;
  EXPECT_EQ(text.find("bbb"), std::string::npos) << "three lines, and of a higher rank";
  EXPECT_NE(text.find("\nAlso"), std::string::npos) << text;
}

TEST(Text, OfADiffHasWhatChangesAndLeavesTheCauseItsRoom) {
  Report report = sample::report();
  report.advice.cause = std::string(60, 'a') + " " + std::string(60, 'b') + " " +
                        std::string(60, 'c') + " " + std::string(60, 'd') + " the end";
  ASSERT_FALSE(report.verification.empty());
  for (Verification& tried : report.verification) {
    tried.diff =
        "--- train.py\n+++ train.py\n@@ -1,5 +1,5 @@\n from pathlib import Path\n import torch\n"
        "-from torch.utils.data import DataLoader\n+from unstarve import DataLoader\n \n def "
        "main():\n";
  }
  const std::string text = text_brief(report, {80, false, true});
  EXPECT_NE(text.find("Change  -from torch.utils.data import DataLoader\n"
                      "        +from unstarve import DataLoader\nGain"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("the end"), std::string::npos) << text;
}

TEST(Text, AnswersWhyWhatToChangeAndWhatItGainsInThisOrder) {
  const std::string text = render_text(sample::host_report(), {80, false, true});
  std::size_t last = 0;
  for (const char* part :
       {"Training waits for data 79 % of the time.", "\nWhy ", "\nChange ", "\nGain ", "\nRun "}) {
    const std::size_t at = text.find(part, last);
    ASSERT_NE(at, std::string::npos) << part << "\n" << text;
    last = at;
  }
}

TEST(Text, OfALongLineWhatChangesIsShown) {
  Report report = sample::report();
  report.verification.clear();
  const std::string before = "    loader = DataLoader(" + std::string(200, 'a') + ", num_workers=";
  const std::string after = ", shuffle=True" + std::string(200, 'b') + ")\n";
  report.advice.next_remedy->edit =
      "-" + before + "0" + after + "+" + before + "2, prefetch_factor=4" + after;
  const std::string text = render_text(report, {80, false, true});
  const std::string flowing = std::regex_replace(text, std::regex("\\s+"), " ");
  EXPECT_NE(flowing.find("a, num_workers=0, shuffle=True"), std::string::npos) << text;
  EXPECT_NE(flowing.find("a, num_workers=2, prefetch_factor=4, shuffle=True"), std::string::npos)
      << text;
  EXPECT_LE(widest_line(text), 80);
}

TEST(Text, OfALongChangeSaysHowMuchMoreThereIs) {
  Report report = sample::report();
  report.verification.clear();
  report.advice.next_remedy->edit = "+a\n+b\n+c\n+d\n+e\n+f\n+g\n+h\n";
  const std::string text = render_text(report, {80, false, true});
  EXPECT_NE(text.find("        +f\n        2 more lines are on the page\n"), std::string::npos)
      << text;
}

TEST(Text, WrapsRatherThanCuts) {
  Report report = sample::host_report();
  report.advice.cause =
      "Input-bound: 62 % of a step waits for the data loader at a/rather/long/place.py:14; 55 % of "
      "a sample is a/rather/long/place.py:14 (`self.transform(image=image, mask=mask)`, resizing)";
  report.advice.not_observed = {{"GPU activity", "this job trains on the CPU",
                                 "it is where a job uses CUDA, on a GPU or an emulated one"}};
  const std::string text = render_text(report, {80, false, true});
  EXPECT_EQ(text.find("…"), std::string::npos) << text;
  EXPECT_NE(text.find("mask=mask)`"), std::string::npos) << text;
}

TEST(Text, OtherTrialsGiveRoomToACauseAndAChange) {
  Report report = sample::report();
  report.advice.cause = "It waits";
  for (int i = 0; i < 24; ++i) report.advice.cause += " because so";
  Verification& best = report.verification.back();
  best.permanent = "Pack the images";
  for (int i = 0; i < 20; ++i) best.permanent += " and load them";
  const std::string text = text_brief(report, {80, false, true});
  EXPECT_EQ(text.find("…"), std::string::npos) << text;
  EXPECT_EQ(text.find("Tried"), std::string::npos) << text;
  EXPECT_NE(text.find("\nGain"), std::string::npos) << text;
  EXPECT_LE(count_lines(text), 13) << text;
  best.permanent = "Pack the images.";
  EXPECT_NE(text_brief(report, {80, false, true}).find("Tried"), std::string::npos);
}

TEST(Text, NamesOfTheInterfacesAreForThoseWhoAskForAll) {
  Report report = sample::report();
  report.verification.clear();
  TextOptions options = {120, false, true};
  const std::string brief = render_text(report, options);
  EXPECT_EQ(brief.find("exposed_copy"), std::string::npos);
  EXPECT_NE(brief.find("1.2 % copies with nothing computed beside them: pageable memory"),
            std::string::npos);
  options.verbose = true;
  EXPECT_NE(render_text(report, options).find("exposed_copy / pageable"), std::string::npos);
}

TEST(Text, WhatOnlyATrialCanTellIsSaidAsThat) {
  Report report = sample::report();
  report.verification.clear();
  advise::Remedy maybe{"more_workers", "Make the DataLoader with num_workers=2."};
  maybe.values = {{"num_workers", 2}, {"prefetch_factor", 4}};
  maybe.predicted = predict::Speedup{1.29, 0.99, 1.7};
  report.advice.for_findings.clear();
  report.advice.doubtful = {maybe};
  const TextOptions options = {120, false, true};
  EXPECT_NE(render_text(report, options)
                .find("Maybe   Make the DataLoader with num_workers=2. Predicted 1.29x faster, "
                      "0.99 to 1.70: `unstarve run --fix` tries it."),
            std::string::npos)
      << render_text(report, options);
  report.advice.doubtful[0].predicted = predict::Speedup{1.02, 0.9, 1.2};
  EXPECT_EQ(render_text(report, options).find("Maybe"), std::string::npos) << "not worth two runs";
}

TEST(Text, AJobThatCrashedIsSaidToHaveFirstOfAll) {
  Report report = sample::host_report();
  report.facts.exit_code = 139;
  report.facts.exit_signal = "SIGSEGV";
  report.facts.steps = 3;
  report.diagnosis.steps = {};
  report.advice = {};
  report.advice.verdict = "No training step was seen.";
  report.advice.not_observed = {{"GPU activity", "it ended too soon", "let it make 20 steps"}};
  const std::string text = render_text(report, {80, false, true});
  EXPECT_EQ(text.find("The job ended by SIGSEGV.\n"
                      "Run     The job ended by SIGSEGV after 3 steps in 12.2 s.\n"),
            0U)
      << text;
  EXPECT_EQ(text.find("20 steps"), std::string::npos) << "it will not run on for our sake";
  report.facts.exit_signal.clear();
  EXPECT_NE(render_text(report, {80, false, true}).find("exit 139 (128 + SIGSEGV) after 3 steps"),
            std::string::npos);
  report.facts.exit_code = 3;
  EXPECT_EQ(render_text(report, {80, false, true})
                .find("The job failed with exit code 3.\nRun     exit 3 after 3 steps"),
            0U);
}

Report report_with_errors() {
  Report report = sample::host_report();
  report.facts.steps = 57;
  report.diagnosis.steps = {};
  report.diagnosis.gpu_errors = {{.device = 0, .xid = 31, .count = 1, .after_steps = 57},
                                 {.device = 0, .xid = 43, .count = 3, .first_at_s = 12.5}};
  return report;
}

TEST(Text, ErrorsOfAGpuComeBeforeAllElse) {
  const Report report = report_with_errors();
  const std::string text = render_text(report, {200, false, true});
  EXPECT_EQ(text.find("Training waits for data 79 % of the time.\n"
                      "Error   GPU 0 reported error XID 31 (GPU memory page fault) after step 57: "
                      "most often a kernel"),
            0U)
      << text;
  EXPECT_NE(text.find("XID 43 (GPU stopped processing) 12.5 s into the run, 3 times in all: "),
            std::string::npos)
      << text;
  const std::string card = render_text(report, {100, false, true, true});
  EXPECT_NE(card.find("Error GPU 0 reported error XID 31"), std::string::npos) << card;
}

TEST(Text, AnErrorThatAJobCrashedOnStandsInItsFirstLines) {
  Report report = report_with_errors();
  report.facts.exit_code = 134;
  report.facts.exit_signal = "SIGABRT";
  const std::string text = render_text(report, {200, false, true});
  EXPECT_EQ(text.find("The job failed: GPU 0 reported XID 31.\n"
                      "Run     The job ended by SIGABRT after 57 steps in 12.2 s; GPU 0 reported "
                      "XID 31 (GPU memory page fault).\n"),
            0U)
      << text;
}

TEST(Text, OfManyKindsOfErrorsTheFirstAreSaid) {
  Report report = report_with_errors();
  report.diagnosis.gpu_errors.push_back({.device = 1, .xid = 140, .gpu_instance = 7, .count = 1});
  const std::string text = render_text(report, {200, false, true});
  EXPECT_EQ(text.find("XID 140"), std::string::npos) << text;
  EXPECT_NE(text.find("1 more kinds followed."), std::string::npos) << text;
  EXPECT_NE(
      render_text(report, {100, false, true, true}).find("MIG instance 7 of GPU 1 reported error"),
      std::string::npos);
}

TEST(Text, AGpuInMigModeIsSaidToBe) {
  Report report = sample::host_report();
  report.facts.mig = "GPU 0 is in MIG mode.";
  EXPECT_NE(render_text(report, {80, false, true}).find("GPU 0 is in MIG mode."),
            std::string::npos);
}

TEST(Text, BatchesThatStandForStepsAreCalledSo) {
  Report report = sample::host_report();
  report.facts.steps = 0;
  report.diagnosis.steps.source = trace::StepSource::kLoaderBatch;
  const std::string text = render_text(report, {200, false, true});
  EXPECT_NE(text.find("\nRun     exit 0 after 60 batches in 12.2 s: 203 ms a batch"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("no optimizer stepped"), std::string::npos);
}

TEST(Text, WhatWasLostIsAmongTheFirstLines) {
  Report report = sample::report();
  report.facts.losses = "11.8 million GPU events were not kept.";
  for (const bool verbose : {false, true}) {
    const std::string text = render_text(report, {80, false, true, verbose});
    EXPECT_LE(count_lines(text.substr(0, text.find("11.8 million"))), 5);
  }
}

TEST(Text, ColourChangesNothingButTheColour) {
  const TextOptions plain = {80, false, true};
  const TextOptions colour = {80, true, true};
  const std::string painted = render_text(sample::report(), colour);
  EXPECT_NE(painted.find("\x1b["), std::string::npos);
  EXPECT_EQ(without_colour(painted), render_text(sample::report(), plain));
}

TEST(Text, NamesFromOutsideCannotReachTheTerminalsControls) {
  const std::string text = render_text(sample::hostile_report(), {80, false, true});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST(Text, SaysEmulatedOnlyWhenItIs) {
  Report report = sample::report();
  EXPECT_NE(render_text(report, {}).find("emulated"), std::string::npos);
  report.facts.emulated = false;
  report.diagnosis.devices[0].info.emulated = false;
  EXPECT_EQ(render_text(report, {}).find("emulated"), std::string::npos);
}

TEST(Text, SaysHowFarTheRooflineIsFromRealGpus) {
  const TextOptions wide{200, false, true};
  Report report = sample::report();
  EXPECT_EQ(render_text(report, wide).find("a real one takes"), std::string::npos);
  report.facts.emulated_durations = "roofline";
  EXPECT_NE(render_text(report, wide).find("a real one takes 0.92 to 1.12 times"),
            std::string::npos);
  report.facts.emulated_durations = "recording";
  EXPECT_EQ(render_text(report, wide).find("a real one takes"), std::string::npos);
}

TEST(Text, AnEmptyDiagnosisHasNoEmptyTables) {
  Report report;
  report.advice.verdict = "No GPU activity was recorded.";
  EXPECT_EQ(render_text(report, {60, false, true}), "No GPU activity was recorded.\n");
  EXPECT_EQ(render_text(report, {60, false, true, true}),
            "╭─ Verdict ────────────────────────────────────────────────╮\n"
            "│ No GPU activity was recorded.                            │\n"
            "╰──────────────────────────────────────────────────────────╯\n");
}

TEST(Text, OfAJobWithoutAGpuIsShort) {
  const TextOptions options = {100, false, true};
  sample::expect_golden("report_cpu.txt", render_text(sample::host_report(), options));
}

TEST(Text, RulesAndSignalsAreNamedOnlyWhenAllIsAskedFor) {
  TextOptions options = {100, false, true};
  for (const Report& report : {sample::report(), sample::host_report()}) {
    options.verbose = false;
    EXPECT_EQ(render_text(report, options).find("Not seen, so not judged"), std::string::npos);
    options.verbose = true;
    const std::string all = render_text(report, options);
    EXPECT_NE(all.find("Not seen, so not judged"), std::string::npos);
    EXPECT_NE(all.find("Findings, by share of time"), std::string::npos);
    EXPECT_NE(all.find("What watching cost"), std::string::npos);
  }
}

TEST(Text, ABrokenPredictionIsNotHidden) {
  Report report = sample::report();
  report.verification[1].held = false;
  EXPECT_NE(render_text(report, {120, false, true}).find("did not hold"), std::string::npos);
}

TEST(Text, ColumnsThatNobodyFilledAreLeftOut) {
  Report report = sample::report();
  for (Verification& tried : report.verification) {
    tried.before.cpu_cores = WhyAbsent::kNotSupported;
    tried.after.cpu_cores = WhyAbsent::kNotSupported;
  }
  const std::string text = render_text(report, {120, false, true, true});
  EXPECT_EQ(text.find("n/a"), std::string::npos);
  EXPECT_EQ(text.find("  CPU"), text.find("  CPU: 0.011"));  // only the tool's own cost
}

}  // namespace
}  // namespace unstarve::report
