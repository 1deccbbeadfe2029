#include "cost/rates/rates.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::cost {
namespace {

const char* says_nothing(const char*) { return nullptr; }

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> set;
  return set;
}
const char* says_variables(const char* name) {
  const auto found = variables().find(name);
  return found == variables().end() ? nullptr : found->second.c_str();
}

class RatesOf : public testing::Test {
 protected:
  void SetUp() override { variables().clear(); }

  std::string file(const std::string& text) {
    std::ofstream(folder_.path() + "/costs.json") << text;
    return folder_.path() + "/costs.json";
  }

  TestFolder folder_;
};

TEST_F(RatesOf, TheDefaultsNameTheirSources) {
  const auto rates = find_rates({}, says_nothing);
  ASSERT_TRUE(rates) << rates.error().message;
  const auto a100 = rates->price_of("Emulated NVIDIA A100-SXM4-40GB");
  ASSERT_TRUE(a100);
  EXPECT_DOUBLE_EQ(a100->value, 1.99);
  EXPECT_EQ(a100->source, "list price of Lambda (8x NVIDIA A100 SXM 40 GB), 2026-09-20");
  EXPECT_EQ(rates->price_of("NVIDIA A100-SXM4-40GB")->value, a100->value);
  EXPECT_EQ(rates->price_of("NVIDIA A10")->value, 1.29) << "another one than an A100";
  EXPECT_FALSE(rates->price_of("NVIDIA A10G"));
  EXPECT_FALSE(rates->price_of("Tesla T4")) << "no price of it has a source";
  EXPECT_DOUBLE_EQ(rates->carbon_g_per_kwh.value, 475);
  EXPECT_NE(rates->carbon_g_per_kwh.source.find("world average"), std::string::npos);
  EXPECT_DOUBLE_EQ(rates->pue.value, 1);
}

TEST_F(RatesOf, OptionsGoBeforeTheFileAndThatBeforeTheEnvironment) {
  variables() = {{"UNSTARVE_PRICE", "9"}, {"UNSTARVE_CARBON", "100"}, {"UNSTARVE_PUE", "1.5"}};
  RateWishes wishes;
  EXPECT_DOUBLE_EQ(find_rates(wishes, says_variables)->price_of("Tesla T4")->value, 9);
  wishes.file = file(R"({"carbon_g_per_kwh": {"value": 30, "source": "our meter"},
                         "prices": [{"gpu": "NVIDIA L4", "usd_per_gpu_hour": 0.4}]})");
  wishes.pue = 1.2;
  const auto rates = find_rates(wishes, says_variables);
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_DOUBLE_EQ(rates->price_of("NVIDIA L4")->value, 0.4);
  EXPECT_EQ(rates->price_of("NVIDIA L4")->source, wishes.file);
  EXPECT_FALSE(rates->price_of("Tesla T4")) << "the file says prices by name";
  EXPECT_DOUBLE_EQ(rates->carbon_g_per_kwh.value, 30);
  EXPECT_EQ(rates->carbon_g_per_kwh.source, "our meter");
  EXPECT_DOUBLE_EQ(rates->pue.value, 1.2);
  EXPECT_EQ(rates->pue.source, "--pue");
  wishes.price = 0;
  EXPECT_DOUBLE_EQ(find_rates(wishes, says_variables)->price_of("Tesla T4")->value, 0);
}

TEST_F(RatesOf, WhatIsNoRateIsAnError) {
  RateWishes wishes;
  wishes.pue = 0.5;
  EXPECT_FALSE(find_rates(wishes, says_nothing)) << "a site takes what its machines take";
  wishes = {};
  wishes.price = -1;
  EXPECT_FALSE(find_rates(wishes, says_nothing));
  variables() = {{"UNSTARVE_CARBON", "much"}};
  EXPECT_FALSE(find_rates({}, says_variables));
  variables().clear();
  for (const char* const wrong :
       {"", "[]", R"({"price": 3})", R"({"pue": "1"})", R"({"pue": {}})", R"({"prices": 3})",
        R"({"prices": [{"gpu": "T4"}]})", R"({"prices": [{"gpu": 3, "usd_per_gpu_hour": 1}]})",
        R"({"usd_per_gpu_hour": 1e99})"}) {
    wishes = {};
    wishes.file = file(wrong);
    EXPECT_FALSE(find_rates(wishes, says_nothing)) << wrong;
  }
  wishes.file = folder_.path() + "/none.json";
  EXPECT_EQ(find_rates(wishes, says_nothing).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace unstarve::cost
