#include "report/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "report/html/assets.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/testing/sample_position.h"
#include "report/testing/sample_report.h"

namespace unstarve::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

Series long_series() {
  Series series;
  series.label = "an hour at 10 Hz";
  for (int i = 0; i < 36'000; ++i) {
    series.t_s.push_back(i * 0.1);
    series.value.push_back(i % 7 < 2 ? 1.0 : 0.1);
  }
  return series;
}

TEST(Page, LeadsWithTheVerdictAndHasEverySection) {
  const std::string page = render_html(sample::report());
  std::size_t last = 0;
  for (const char* part :
       {"<h1 id=\"verdict\">The GPU waits for data <span class=\"whole\">79 %</span> of the "
        "time.</h1>",
        "<h2>Why</h2>", "<h2>Change</h2>", "<h2>Gain</h2>", "exit 0 after 61 steps",
        "GPU utilisation", "Where the time goes", "What it cost", "What was tried", "Findings",
        "<p class=\"cause\">The GPU waits for input", "Rules of thumb", "Not seen, so not judged",
        "The run", "What watching cost", "Words"}) {
    const std::size_t at = page.find(part, last);
    ASSERT_NE(at, std::string::npos) << part;
    last = at;
  }
  EXPECT_THAT(page, HasSubstr("5.75x [5.69..5.80]"));
  EXPECT_THAT(page, HasSubstr("emulated"));
  EXPECT_THAT(page, Not(HasSubstr("a real one takes")));
  Report report = sample::report();
  report.facts.emulated_durations = "roofline";
  EXPECT_THAT(render_html(report), HasSubstr("a real one takes 0.92 to 1.12 times"));
}

TEST(Page, WithoutAGpuShowsTheTrainingThreadsTime) {
  const std::string page = render_html(sample::host_report());
  EXPECT_THAT(page, HasSubstr("aria-label=\"share of time: input_wait 62.0 %, own_work 38.0 %\""));
  EXPECT_THAT(page, HasSubstr("GPU activity was not observed (this job trains on the CPU)"));
}

TEST(Page, NamesNothingOutsideOfItself) {
  const std::string page = render_html(sample::report());
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  // The one address is the name of the SVG language inside the page's icon.
  EXPECT_EQ(count_of(page, "http://"), count_of(page, "xmlns='http://www.w3.org/2000/svg'"));
}

TEST(Page, HostileNamesStayText) {
  const std::string page = render_html(sample::hostile_report());
  EXPECT_EQ(count_of(page, "</script>"), 2U);  // the points of the curves, and the page's own
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;"));
}

TEST(Page, PlaceholdersInContentAreNotFilled) {
  Report report = sample::report();
  report.advice.cause = "{{script}} {{style}}";
  EXPECT_THAT(render_html(report), HasSubstr("<p class=\"cause\">{{script}} {{style}}</p>"));
}

TEST(Page, ShowsTheLinesOfAnEditOneBelowTheOther) {
  Report report = sample::report();
  report.advice.for_findings[0][0].edit = "- a(b)\n+ a(b, \"<c>\")";
  EXPECT_THAT(render_html(report), HasSubstr("<code>- a(b)</code>\n"
                                             "<code>+ a(b, &quot;&lt;c&gt;&quot;)</code>\n"));
}

TEST(Page, AnEmptyDiagnosisHasNoEmptyParts) {
  Report report;
  report.advice.verdict = "No GPU activity was recorded.";
  const std::string page = render_html(report);
  for (const char* empty : {"<table", "<ul", "<ol", "<article", "id=\"curves\"", "emulated"}) {
    EXPECT_THAT(page.substr(page.find("<main>")), Not(HasSubstr(empty)));
  }
}

TEST(Page, ALongRunStaysSmall) {
  Report report = sample::report();
  report.utilization = {long_series(), long_series()};
  EXPECT_LT(render_html(report).size(), 200'000U);
}

TEST(Page, NumbersThatAreNotFiniteLeaveGaps) {
  Report report = sample::report();
  report.utilization[0].value[3] = std::nan("");
  report.verification[0].measured.high = INFINITY;
  report.verification[1].before.step_us = std::nan("");
  const std::string page = render_html(report);
  const std::string body = page.substr(page.find("<main>"), page.find("</main>"));
  EXPECT_THAT(body, Not(testing::ContainsRegex("[^a-z]nan[^a-z]")));
  EXPECT_THAT(body, Not(testing::ContainsRegex("[^a-z]inf[^a-z]")));
}

TEST(Assets, TheScriptWouldNotEndItsElement) {
  EXPECT_EQ(assets::script().find("</"), std::string_view::npos);
  EXPECT_EQ(assets::style().find("</"), std::string_view::npos);
  EXPECT_EQ(assets::script_hash().size(), 44U);
  EXPECT_EQ(assets::style_hash().size(), 44U);
}

TEST(Escape, LeavesNothingThatMarkupCouldMean) {
  EXPECT_EQ(escape("<a href=\"x\" b='y'>&</a>"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(escape("\xff\xc3(\xe2\x80\xae\n"), "\xEF\xBF\xBD\xEF\xBF\xBD(  ");
  EXPECT_EQ(escape("b\xc3\xa9zier \xe4\xb8\xad"), "b\xc3\xa9zier \xe4\xb8\xad");
}

TEST(Scale, LabelsRoundValues) {
  EXPECT_THAT(round_ticks({0, 12}, 6), ElementsAre(0, 2, 4, 6, 8, 10, 12));
  EXPECT_THAT(round_ticks({1, 6.04}, 5), ElementsAre(2, 4, 6));
  EXPECT_THAT(round_ticks({1, 1}, 5), ElementsAre());
  EXPECT_THAT(round_ticks({0, INFINITY}, 5), ElementsAre());
  EXPECT_EQ(Scale({1, 1}).percent(1), "0.00%");
  EXPECT_EQ(Scale({0, 2}).percent(3), "100.00%");
}

/// With the change as it is written, and a line of it that is longer than the page is wide.
Report written_report() {
  Report report = sample::report();
  for (Verification& tried : report.verification) {
    tried.diff = "--- a/job/train.py\n+++ b/job/train.py\n@@ -1,4 +1,4 @@\n-" +
                 std::string(300, 'x') + "\n-open(\"/home/somebody/" + std::string(80, 'y') +
                 "/a\", 1)\n+from unstarve import DataLoader\n+open(\"b\", 1)\n";
  }
  return report;
}

TEST(Page, KeepsTheLinesOfADiffAndMarksWhatChanges) {
  const std::string page = render_html(written_report());
  EXPECT_THAT(page, HasSubstr("<pre class=\"change\"><span class=\"file\">job/train.py</span>\n"));
  EXPECT_THAT(page, HasSubstr("<mark>from unstarve import DataLoader</mark></ins>\n"));
  EXPECT_THAT(page, HasSubstr("data-copied=\"--- a/job/train.py&#10;+++ b/job/train.py&#10;@@"));
}

TEST(Page, ACommandStandsByItselfAndItsPathsAreOfTheJobsFolder) {
  Report report = sample::report();
  report.verification.clear();
  report.facts.folder = "/home/somebody/work";
  report.advice.next_remedy->how =
      "Pack once with `unstarve pack /home/somebody/work/data /home/somebody/work/data-shards`, "
      "and load that.";
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("<p>Pack once with this command, and load that.</p>"));
  EXPECT_THAT(page, HasSubstr("<pre class=\"change\">unstarve pack data data-shards</pre>"));
  EXPECT_THAT(page, HasSubstr("data-copied=\"unstarve pack data data-shards\">Copy command"));
}

TEST(Page, PlacesAreOfTheScriptsFolderAndCommandsAreWhole) {
  Report report = sample::report();
  report.verification.clear();
  report.facts.script_folder = "/home/somebody/job";
  report.advice.next_remedy->edit.clear();
  report.advice.next_remedy->how =
      "Pack once with `unstarve pack /home/somebody/job/data out`, and load that at "
      "/home/somebody/job/train.py:41.";
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("and load that at train.py:41.</p>"));
  EXPECT_THAT(page, HasSubstr("data-copied=\"unstarve pack /home/somebody/job/data out\""));
}

/// Of a job that imports and warms up for two seconds.
Report folded_report() {
  Report report = sample::report();
  report.training_from_s = 2.0;
  for (Series& series : report.utilization) {
    series.training_from_s = 2.0;
    series.training_until_s = 11.6;
  }
  Track steps{"steps", "step", "50; a taller one took longer", {{0.5, 2.0}}, true};
  for (int i = 0; i < 48; ++i) steps.stretches.push_back({2 + i * 0.2, 2.2 + i * 0.2});
  Track waits{"waiting for <b>", "input_wait", "79 % of the time", {}};
  for (int i = 0; i < 48; ++i) waits.stretches.push_back({2.05 + i * 0.2, 2.2 + i * 0.2});
  report.tracks = {steps, waits};
  return report;
}

TEST(Page, FoldsTheStartUpAndAlignsTracksWithTheCurves) {
  const std::string page = render_html(folded_report());
  EXPECT_THAT(page, HasSubstr("Folded: 2.00 s of start-up, imports and warm-up before it, and "
                              "300 ms after the last step. "));
  EXPECT_THAT(
      page, HasSubstr("{\"from\":-2.000000,\"to\":9.900000,\"start\":0.000000,\"end\":9.600000,"));
  EXPECT_EQ(count_of(page, "<svg class=\"timed\" viewBox=\"0 0 1000 100\""), 5U);
  EXPECT_THAT(page, HasSubstr("aria-label=\"waiting for &lt;b&gt;: 79 % of the time\""));
  // The first wait begins 0.05 s behind the start of the training.
  EXPECT_THAT(page, HasSubstr("d=\"M5.2 100v-100h15.6V100z"));
  EXPECT_THAT(render_html(sample::report()), Not(HasSubstr("class=\"folded\"")));
}

TEST(Page, TheDriversCurveIsLeftOutWhereItIsTooShort) {
  Report report = folded_report();
  EXPECT_THAT(render_html(report), Not(HasSubstr("Too short for the driver's curve")));
  for (Series& series : report.utilization) {
    for (double& t : series.t_s) t /= 4;
    series.training_from_s = 0.5;
    series.training_until_s = 2.9;
  }
  report.training_from_s = 0.5;
  report.tracks.clear();
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("Too short for the driver's curve of the GPU"));
  EXPECT_THAT(page, HasSubstr("The training over time"));
  EXPECT_THAT(page, Not(HasSubstr("<figure class=\"curve\">")));
}

TEST(Page, WhereKernelsWaitForOtherGpusTheCurveSaysSo) {
  Report report = folded_report();
  EXPECT_THAT(render_html(report), Not(HasSubstr("waiting for other GPUs included")));
  ASSERT_FALSE(report.diagnosis.devices.empty());
  report.diagnosis.devices.front().partition.exposed_communication = 0.9;
  EXPECT_THAT(render_html(report), HasSubstr(" %, waiting for other GPUs included</span>"));
}

TEST(Page, WhatComesFirstIsSetApartFromTheChange) {
  Report report = sample::report();
  report.verification.clear();
  report.advice.condition = "Others use the CPUs: stop them.";
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("<strong>First:</strong> Others use the CPUs: stop them.</p>\n"
                              "<p><strong>Then:</strong></p>"));
  EXPECT_THAT(page, HasSubstr(" for what comes then; not tried yet"));
}

TEST(Page, ACommandStandsAboveTheLinesThatNeedIt) {
  Report report = sample::report();
  report.verification.clear();
  report.advice.next_remedy->edit = "- DataLoader(...)\n+ ImageLoader(\"out\")";
  report.advice.next_remedy->beside_edit = "Pack once with `unstarve pack data out`.";
  const std::string page = render_html(report);
  const std::size_t command = page.find("<pre class=\"change\">unstarve pack data out</pre>");
  ASSERT_NE(command, std::string::npos);
  EXPECT_GT(page.find("<ins>", command), command);
  EXPECT_THAT(page, HasSubstr("data-copied=\"unstarve pack data out\">Copy command"));
}

TEST(Page, WithoutAGpuHasTheTracksAlone) {
  Report report = folded_report();
  report.utilization.clear();
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("The training over time"));
  EXPECT_THAT(page, Not(HasSubstr("role=\"slider\"")));
}

TEST(Page, ManyStretchesAreDrawnAsHowMuchOfTheTimeTheyFill) {
  Report report = folded_report();
  report.tracks[1].stretches.clear();
  for (int i = 0; i < 100'000; ++i)
    report.tracks[1].stretches.push_back({2 + i * 8e-5, 2 + (i + 0.5) * 8e-5});
  const std::string page = render_html(report);
  EXPECT_LT(page.size(), 200'000U);
  EXPECT_THAT(page, HasSubstr("v-50h2.1V100z"));
}

TEST(Page, ExplainsWordsWhereTheyStand) {
  const std::string page = render_html(sample::report());
  EXPECT_THAT(page,
              HasSubstr("popovertarget=\"term-au\" aria-describedby=\"word-au\">AU</button>"));
  EXPECT_EQ(count_of(page, "id=\"term-au\""), 1U);
  EXPECT_EQ(count_of(page, "id=\"word-input-wait\""), 1U);
}

/// Not a test: writes the pages that tests/browser looks at, where it asks for them.
TEST(Page, IsWrittenForTheBrowserTests) {
  const char* folder = std::getenv("UNSTARVE_WRITE_PAGES");
  if (folder == nullptr) GTEST_SKIP() << "UNSTARVE_WRITE_PAGES names no folder";
  Report plain = sample::report();
  plain.verification.clear();
  plain.utilization.resize(1);
  plain.position = sample::placed();
  Report hostile = sample::hostile_report();
  hostile.position = sample::placed();
  hostile.position->notes = {"</p><script>alert(1)</script>"};
  Report several = sample::report();
  several.utilization = {long_series(), sample::report().utilization[2]};
  several.diagnosis.devices.push_back(several.diagnosis.devices[0]);
  several.diagnosis.devices[1].info.index = 1;
  several.diagnosis.devices[1].partition = sample::fed_partition();
  several.verification[0].held = false;
  several.verification[1].predicted = WhyAbsent::kNotObserved;
  Report bare;
  bare.advice.verdict = "No GPU activity was recorded, so nothing can be said about it.";
  const std::pair<const char*, Report> pages[] = {
      {"verified", sample::report()}, {"diagnosis", plain},          {"several", several},
      {"hostile", hostile},           {"written", written_report()}, {"bare", bare},
      {"folded", folded_report()}};
  for (const auto& [name, report] : pages) {
    std::ofstream(std::string(folder) + "/" + name + ".html") << render_html(report);
  }
}

}  // namespace
}  // namespace unstarve::report
