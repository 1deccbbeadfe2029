#include "report/text/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/testing/golden.h"
#include "report/testing/sample_report.h"

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

TEST(Text, MatchesTheGoldenFileInAscii) {
  const TextOptions options = {80, false, false};
  const std::string text = render_text(sample::report(), options);
  sample::expect_golden("report_80_ascii.txt", text);
  for (const char c : text) EXPECT_TRUE((c >= 0x20 && c < 0x7f) || c == '\n');
}

TEST(Text, NoLineIsWiderThanTheTerminal) {
  for (int width = 40; width <= 160; ++width) {
    TextOptions options;
    options.width = width;
    EXPECT_LE(widest_line(render_text(sample::report(), options)), width);
    EXPECT_LE(widest_line(render_text(sample::hostile_report(), options)), width);
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
  EXPECT_EQ(render_text(report, {60, false, true}),
            "╭─ Verdict ────────────────────────────────────────────────╮\n"
            "│ No GPU activity was recorded.                            │\n"
            "╰──────────────────────────────────────────────────────────╯\n"
            "\n"
            "Where the time goes\n"
            "  GPU activity: not observed\n");
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
  const std::string text = render_text(report, {120, false, true});
  EXPECT_EQ(text.find("n/a"), std::string::npos);
  EXPECT_EQ(text.find("  CPU"), text.find("  CPU: 0.011"));  // only the tool's own cost
}

}  // namespace
}  // namespace unstarve::report
