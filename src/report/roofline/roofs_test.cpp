#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/html/page.h"
#include "report/json.h"
#include "report/roofline/position_text.h"
#include "report/roofline/roofline_axes.h"
#include "report/roofline/roofline_text.h"
#include "report/testing/sample_position.h"
#include "report/testing/sample_report.h"
#include "report/text/text.h"

namespace unstarve::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using sample::placed;

TEST(Roofs, ATableHasALineForEachTermAndOneForWhatIsAbsent) {
  const std::string text = position_text(placed(), TextOptions{});
  EXPECT_THAT(text, HasSubstr("A step takes 20.0 ms, at least 8.00 ms of it for copies to GPU."));
  EXPECT_THAT(text, HasSubstr("4.00 ms  20.0 %  1 TFLOP under 250 TFLOP/s (measured)"));
  EXPECT_THAT(text, HasSubstr("launches: not measured on this machine: `unstarve roofline`"));
  EXPECT_THAT(text, HasSubstr("MFU 16 % of the specification; 20 % of what products reach"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8);
  Report report = sample::report();
  EXPECT_THAT(render_text(report, {.verbose = true}), Not(HasSubstr("Under the roofs")));
  report.position = placed();
  EXPECT_THAT(render_text(report, {.verbose = true}), HasSubstr("Under the roofs"));
  EXPECT_THAT(render_text(report, {}), Not(HasSubstr("Under the roofs")));
}

TEST(Roofs, TheJobsPointLiesWhereItsFiguresPutIt) {
  const roofline::Position position = placed();  // 50 TFLOP/s at 100 FLOP a byte
  const RooflineAxes axes = roofline_axes(position, 3);
  ASSERT_EQ(axes.plateaus.size(), 1U);
  EXPECT_DOUBLE_EQ(axes.plateaus[0].ridge, 125);
  EXPECT_DOUBLE_EQ(axes.low_x, 10);
  EXPECT_DOUBLE_EQ(axes.high_x, 1e4);
  EXPECT_NEAR(axes.x(100), 1.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(axes.low_y, 1e12);
  EXPECT_DOUBLE_EQ(axes.high_y, 1e15);
  const std::string plot = roofline_text(position, TextOptions{});
  EXPECT_LE(std::count(plot.begin(), plot.end(), '\n'), 20);
  EXPECT_THAT(plot, HasSubstr("O the job: 50 TFLOP/s at 100 FLOP a byte"));
  EXPECT_THAT(plot, HasSubstr("- bfloat16: 250 TFLOP/s (measured), from 125 FLOP a byte on"));
  // 1.7 of 3 decades up is 0.57 of the height: the row 4.3 from the top, of 0 to 10.
  std::size_t row = 0;
  std::istringstream lines(plot);
  for (std::string line; std::getline(lines, line); ++row) {
    if (const std::size_t at = line.find('O', 13); line.find('|') == 12 && at != line.npos) {
      EXPECT_EQ(row, 1U + 4U);
      EXPECT_EQ(at - 13, 21U) << "a third of 64 columns";
    }
  }
}

TEST(Roofs, APointFarFromTheRoofsIsOnTheEdge) {
  for (const double far : {0.0, 1e-300, 1e300}) {
    roofline::Position position = placed();
    position.flop_per_byte = position.flop_per_s = far;
    const RooflineAxes axes = roofline_axes(position, 3);
    EXPECT_GE(axes.low_x, 1e-6) << far;
    EXPECT_LE(axes.high_x, 1e11) << far;
    EXPECT_GE(axes.low_y, 1e5) << far;
    EXPECT_LE(render_html([&] {
                Report report = sample::report();
                report.position = position;
                return report;
              }())
                  .size(),
              1U << 20)
        << far;
  }
}

TEST(Roofs, WithoutAPointThePlotSaysWhy) {
  const roofline::Position refused = placed(0.001);
  const std::string plot = roofline_text(refused, TextOptions{});
  EXPECT_THAT(plot, HasSubstr("refused as wrong"));
  roofline::Position unknown = placed();
  unknown.roofs = {};
  EXPECT_THAT(roofline_text(unknown, TextOptions{}), HasSubstr("`unstarve roofline`"));
}

TEST(Roofs, OfAJobOnTheCpuTheWordsAreOfACpu) {
  const roofline::Position position = sample::placed_on_cpu();
  const std::string text = position_text(position, TextOptions{});
  EXPECT_THAT(text, HasSubstr("A step takes 1.00 s, at least 600 ms of it for compute."));
  EXPECT_THAT(text, HasSubstr("copies to GPU, launches: the job trains on the CPU"));
  EXPECT_THAT(text, HasSubstr("MFU 60 % of what products reach here; the CPU's peak of float32"));
  EXPECT_THAT(roofline_text(position, TextOptions{}), HasSubstr("Roofline of AMD <EPYC>, both"));
  roofline::Position unknown = position;
  unknown.roofs = {};
  EXPECT_THAT(roofline_text(unknown, TextOptions{}), HasSubstr("measures its memory and products"));
  Report report = sample::report();
  report.position = position;
  const auto shown = nlohmann::json::parse(to_json(report, false)).at("position");
  EXPECT_EQ(shown.at("device"), "cpu");
  EXPECT_EQ(shown.at("cpu"), "AMD <EPYC>");
  EXPECT_FALSE(shown.contains("gpu"));
  EXPECT_THAT(render_html(report), HasSubstr("the job trains on the CPU"));
}

TEST(Roofs, TheJsonHasTermsWithTheirRoofsOrTheReason) {
  Report report = sample::report();
  report.position = placed();
  const auto shown = nlohmann::json::parse(to_json(report, false)).at("position");
  EXPECT_EQ(shown.at("bound"), "h2d");
  EXPECT_EQ(shown.at("device"), "gpu");
  EXPECT_EQ(shown.at("gpu"), "NVIDIA <A100>");
  EXPECT_NEAR(shown.at("terms")[0].at("least_us").get<double>(), 4000, 1e-6);
  EXPECT_EQ(shown.at("terms")[0].at("roof").at("source"), "measured");
  EXPECT_EQ(shown.at("terms")[3].at("absent"), "not_observed");
  EXPECT_THAT(shown.at("terms")[3].at("reason").get<std::string>(), HasSubstr("unstarve roofline"));
  EXPECT_NEAR(shown.at("mfu").at("specification").get<double>(), 1 / 0.020 / 312, 1e-9);
  EXPECT_EQ(shown.at("flops").at("by_dtype").at("bfloat16"), 1e12);
}

TEST(Roofs, ThePageHasThePlotAndTrustsNoName) {
  Report report = sample::report();
  EXPECT_THAT(render_html(report), Not(HasSubstr("svg class=\"roofline\"")));
  report.position = placed();
  report.position->notes = {"<b>"};
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("svg class=\"roofline\""));
  EXPECT_THAT(page, HasSubstr("class=\"job\""));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;"));
}

}  // namespace
}  // namespace unstarve::report
