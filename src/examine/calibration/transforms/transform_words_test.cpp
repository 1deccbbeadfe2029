#include "examine/calibration/transforms/transform_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace unstarve::examine {
namespace {

using feed::GeometryPlan;
using Words = std::vector<std::string>;

TEST(TransformWords, ATrainingsTransformsAreOnePlan) {
  const auto plan = plan_of_transforms(
      Words{"RandomResizedCrop(size=(128, 96), scale=(0.5, 1), ratio=(0.75, 1.3333), "
            "interpolation=bicubic, antialias=True)",
            "RandomHorizontalFlip(p=0.25)",
            "ColorJitter(brightness=(0.6, 1.4), contrast=None, saturation=None, hue=(-0.1, 0.1))",
            "ToTensor()", "Normalize(mean=[0.5, 0.4, 0.3], std=[0.2, 0.2, 0.1])"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->geometry.kind, GeometryPlan::Kind::kRandomResizedCrop);
  EXPECT_EQ(plan->geometry.size.height, 128);
  EXPECT_EQ(plan->geometry.size.width, 96);
  EXPECT_EQ(plan->geometry.scale_min, 0.5);
  EXPECT_EQ(plan->geometry.interpolation, feed::Interpolation::kBicubic);
  EXPECT_EQ(plan->geometry.horizontal_flip_probability, 0.25);
  ASSERT_EQ(plan->colour.size(), 1U);
  EXPECT_TRUE(plan->colour[0].brightness);
  EXPECT_FALSE(plan->colour[0].contrast);
  EXPECT_EQ(plan->colour[0].hue->low, -0.1);
  EXPECT_EQ(plan->output.type, feed::OutputPlan::Type::kFloat32);
  EXPECT_TRUE(plan->output.scale_to_unit);
  ASSERT_TRUE(plan->output.mean);
  EXPECT_FLOAT_EQ((*plan->output.mean)[2], 0.3F);
}

TEST(TransformWords, CropsAreOfWhatWasResized) {
  const auto bytes =
      plan_of_transforms(Words{"Resize(size=[256], interpolation=bilinear, antialias=True)",
                               "CenterCrop(size=(224, 224))", "PILToTensor()"});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->geometry.kind, GeometryPlan::Kind::kResizeCenterCrop);
  EXPECT_EQ(bytes->geometry.resize_short, 256);
  EXPECT_EQ(bytes->output.type, feed::OutputPlan::Type::kUint8);
  const auto cut = plan_of_transforms(Words{"CenterCrop(size=(224, 224))", "ToTensor()"});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->geometry.kind, GeometryPlan::Kind::kCenterCrop);
  const auto padded = plan_of_transforms(Words{"RandomCrop(size=(32, 32), padding=4)"});
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->geometry.kind, GeometryPlan::Kind::kRandomCrop);
  EXPECT_EQ(padded->geometry.padding.bottom, 4);
  const auto whole = plan_of_transforms(Words{"Resize(size=(64, 32), max_size=None)"});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->geometry.kind, GeometryPlan::Kind::kResize);
  EXPECT_EQ(whole->geometry.size.height, 64);
}

TEST(TransformWords, WhatIsNotKnownIsNamed) {
  const auto unknown = plan_of_transforms(
      Words{"RandomResizedCrop(size=(224, 224))", "RandAugment(num_ops=2)", "ToTensor()"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("RandAugment"), std::string::npos);
  for (const Words& words :
       {Words{}, Words{"Resize(size=256)", "ToTensor()"},
        Words{"RandomCrop(size=(32, 32), padding=-1)"}, Words{"CenterCrop(size=(32, 32, 32))"},
        Words{"CenterCrop(size=(nan, inf))"}, Words{"CenterCrop("}, Words{"="},
        Words{"Resize(size=(64, 64))", "Normalize(mean=[1])"}}) {
    EXPECT_FALSE(plan_of_transforms(words));
  }
}

}  // namespace
}  // namespace unstarve::examine
