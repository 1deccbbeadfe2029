#include "feed/data/transform_plan.h"

#include <gtest/gtest.h>

#include <cmath>

namespace unstarve::feed {
namespace {

TEST(TransformPlan, TheDefaultsAreSound) {
  TransformPlan plan;
  plan.colour.push_back({});
  plan.erasing.emplace();
  EXPECT_TRUE(validate(plan));
  EXPECT_EQ(image_bytes(plan), 224U * 224U * 3U);
}

TEST(TransformPlan, ValuesThatMakeNoSenseAreNamed) {
  TransformPlan plan;
  plan.geometry.size.width = 0;
  const Status status = validate(plan);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("size"), std::string::npos);

  plan = {};
  plan.colour.push_back({});
  plan.colour[0].hue = ColourStep::Bounds{-0.7, 0.1};
  EXPECT_FALSE(validate(plan));

  plan = {};
  plan.erasing.emplace();
  plan.erasing->ratio_min = 0;
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, AnAugmentationHasSetsAndMagnitudes) {
  TransformPlan plan;
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kAugment;
  EXPECT_FALSE(validate(plan)) << "no set";
  AugmentChange& change = step.augment.sets.emplace_back().emplace_back();
  change.kind = AugmentChange::Kind::kInvert;
  EXPECT_TRUE(validate(plan));
  change.kind = AugmentChange::Kind::kSolarizeAdd;
  EXPECT_FALSE(validate(plan)) << "no magnitude";
  change.magnitudes = {110};
  EXPECT_TRUE(validate(plan));
  change.magnitudes = {std::nan("")};
  EXPECT_FALSE(validate(plan));
  change.magnitudes = {1};
  step.augment.rounds = -1;
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, ABlurFitsIntoTheOutput) {
  TransformPlan plan;
  plan.geometry.size = {12, 30};
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kBlur;
  step.blur.taps_across = 23;
  EXPECT_TRUE(validate(plan));
  step.blur.taps_across = 25;
  EXPECT_FALSE(validate(plan));
  step.blur.taps_across = 4;
  EXPECT_FALSE(validate(plan));
  step.blur = {};
  step.blur.sigma_min = 0;
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, ARandomCropFitsIntoWhatIsResized) {
  TransformPlan plan;
  plan.geometry.kind = GeometryPlan::Kind::kResizeRandomCrop;
  plan.geometry.resize_short = 224;
  EXPECT_TRUE(validate(plan));
  plan.geometry.resize_short = 223;
  EXPECT_FALSE(validate(plan));
  plan.geometry.resize_to = {224, 300};
  EXPECT_TRUE(validate(plan));
  plan.geometry.resize_to = {300, 223};
  EXPECT_FALSE(validate(plan));
  plan.geometry.kind = GeometryPlan::Kind::kResizeCenterCrop;
  EXPECT_TRUE(validate(plan)) << "padded";
  plan.geometry.kind = GeometryPlan::Kind::kResizeRandomCrop;
  plan.geometry.padding = {.top = 1};
  EXPECT_TRUE(validate(plan));
  plan.geometry.padding = {.top = 224};
  EXPECT_FALSE(validate(plan)) << "a crop may hold nothing of the image";
  plan.geometry.padding = {};
  plan.geometry.resize_to = {300, -1};
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, APaddingHasWhatItMirrors) {
  TransformPlan plan;
  GeometryPlan& geometry = plan.geometry;
  geometry.kind = GeometryPlan::Kind::kRandomCrop;
  geometry.size = {9, 9};
  geometry.padding = {.left = 4, .surround = {Surround::Mode::kReflect, {}}};
  EXPECT_TRUE(validate(plan));
  EXPECT_TRUE(fits(geometry, {5, 9}));
  EXPECT_FALSE(fits(geometry, {4, 9})) << "whose fifth column would be mirrored";
  geometry.padding.left = 5;
  EXPECT_FALSE(validate(plan)) << "a crop may lack what is mirrored";
  geometry.padding.surround.mode = Surround::Mode::kEdge;
  geometry.pads_if_needed = true;
  EXPECT_TRUE(validate(plan));
  geometry.padding = {.surround = {Surround::Mode::kSymmetric, {}}};
  EXPECT_FALSE(validate(plan)) << "nobody knows how much is needed";
}

TEST(TransformPlan, AFrameLeavesSomethingInside) {
  TransformPlan plan;
  plan.geometry.size = {10, 20};
  plan.geometry.frame = {.left = 3, .top = 0, .right = 6, .bottom = 1};
  EXPECT_TRUE(validate(plan));
  EXPECT_EQ(framed_size(plan.geometry).width, 1);
  EXPECT_EQ(framed_size(plan.geometry).height, 19);
  plan.geometry.frame.surround.mode = Surround::Mode::kSymmetric;
  EXPECT_FALSE(validate(plan)) << "one column has no other five";
  plan.geometry.frame = {.left = 4, .top = 0, .right = 6, .bottom = 1};
  EXPECT_FALSE(validate(plan));
  plan.geometry.frame = {.left = -1};
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, NoiseIsOfFloats) {
  TransformPlan plan;
  plan.noise.emplace();
  EXPECT_FALSE(validate(plan));
  plan.output.type = OutputPlan::Type::kFloat32;
  EXPECT_TRUE(validate(plan));
  plan.noise->deviation = -0.1;
  EXPECT_FALSE(validate(plan));
  plan.noise = NoisePlan{.mean = std::nan("")};
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, AMixtureHasChangesAndWeights) {
  TransformPlan plan;
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kMix;
  EXPECT_FALSE(validate(plan)) << "no change";
  step.mix.changes.emplace_back();
  EXPECT_TRUE(validate(plan));
  step.mix.between = AugmentPlan::Between::kBicubic;
  EXPECT_FALSE(validate(plan));
  step.mix.between = AugmentPlan::Between::kNearest;
  step.mix.alpha = 0;
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, AnElasticChangeFitsIntoTheOutput) {
  TransformPlan plan;
  plan.geometry.size = {21, 30};
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kElastic;
  EXPECT_TRUE(validate(plan)) << "20 pixels aside of 21";
  plan.geometry.size = {20, 30};
  EXPECT_FALSE(validate(plan));
  step.elastic.sigma = {0, 0};
  EXPECT_TRUE(validate(plan));
  step.elastic.sigma = {1, 0};
  EXPECT_FALSE(validate(plan));
  step.elastic.sigma = {std::nan(""), 1};
  EXPECT_FALSE(validate(plan));
  step.elastic = {.alpha = {std::nan(""), 1}, .sigma = {1, 1}, .fill = {}};
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, AJpegsQualitiesAreARange) {
  TransformPlan plan;
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kJpeg;
  for (const auto& [low, high] : {std::pair{1, 100}, {50, 50}}) {
    step.jpeg = {low, high};
    EXPECT_TRUE(validate(plan)) << low << " to " << high;
  }
  for (const auto& [low, high] : {std::pair{0, 50}, {50, 101}, {51, 50}}) {
    step.jpeg = {low, high};
    EXPECT_FALSE(validate(plan)) << low << " to " << high;
  }
}

TEST(TransformPlan, AChoiceHasWeightsAndSoundSteps) {
  TransformPlan plan;
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kChoice;
  EXPECT_FALSE(validate(plan)) << "nothing to choose from";
  step.choices.resize(2);
  EXPECT_TRUE(validate(plan));
  step.choices[1].steps.emplace_back().probability = 2;
  EXPECT_FALSE(validate(plan));
  step.choices[1].steps[0].probability = 1;
  step.choices[0].weight = -1;
  EXPECT_FALSE(validate(plan));
  step.choices[0].weight = step.choices[1].weight = 0;
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, ChoicesAreNestedSomeTimes) {
  TransformPlan plan;
  for (const int depth : {7, 8}) {
    ColourStep step;
    for (int level = 0; level <= depth; ++level) {
      ColourStep outer;
      outer.kind = ColourStep::Kind::kChoice;
      outer.choices.emplace_back().steps.push_back(step);
      step = outer;
    }
    plan.colour = {step};
    EXPECT_EQ(validate(plan).has_value(), depth == 7);
  }
}

TEST(TransformPlan, APerspectiveHasTwoPixelsASide) {
  TransformPlan plan;
  plan.geometry.size = {2, 2};
  ColourStep& step = plan.colour.emplace_back();
  step.kind = ColourStep::Kind::kPerspective;
  EXPECT_TRUE(validate(plan));
  step.perspective.distortion = 1.5;
  EXPECT_FALSE(validate(plan));
  step.perspective = {};
  plan.geometry.size = {2, 1};
  EXPECT_FALSE(validate(plan));
}

TEST(TransformPlan, BytesCannotBeNormalised) {
  TransformPlan plan;
  plan.output.mean = {0.5F, 0.5F, 0.5F};
  EXPECT_FALSE(validate(plan)) << "a mean without a standard deviation";
  plan.output.deviation = {0.2F, 0.2F, 0.2F};
  EXPECT_FALSE(validate(plan)) << "bytes";
  plan.output.type = OutputPlan::Type::kBfloat16;
  EXPECT_TRUE(validate(plan));
  EXPECT_EQ(image_bytes(plan), 2U * 224U * 224U * 3U);
}

}  // namespace
}  // namespace unstarve::feed
