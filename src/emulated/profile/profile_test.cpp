#include "emulated/profile/profile.h"

#include <gtest/gtest.h>

namespace unstarve::emulated {
namespace {

TEST(EmulatedProfile, ReadsEachThatComesWithUs) {
  const std::vector<std::string> names = profile_names();
  EXPECT_GE(names.size(), 9U);
  for (const std::string& name : names) {
    const Result<Profile> profile = find_profile(name);
    ASSERT_TRUE(profile) << name << ": " << profile.error().message;
    EXPECT_EQ(profile->name, name);
    EXPECT_EQ(profile->device_name.rfind("Emulated ", 0), 0U);
    EXPECT_GE(profile->sources.size(), 7U) << name;
    EXPECT_GT(profile->host_ns[static_cast<std::size_t>(Call::kLaunchKernel)], 4000);
  }
}

TEST(EmulatedProfile, KnowsAliases) {
  for (const char* alias : {"a100", "h100", "l4", "t4", "rtx4090", "v100"}) {
    EXPECT_TRUE(find_profile(alias)) << alias;
  }
  EXPECT_EQ(find_profile("a100")->multiprocessors, 108);
  const Result<Profile> unknown = find_profile("a1000");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("h100_sxm_80gb"), std::string::npos);
}

TEST(EmulatedProfile, TakesAnotherAsItsBase) {
  const Result<Profile> profile = parse_profile(
      R"({"format": "unstarve-gpu-profile", "version": 1, "name": "mine", "based_on": "a100",
          "architecture": {"multiprocessors": 54}})");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->multiprocessors, 54);
  EXPECT_EQ(profile->compute_major, 8);
}

TEST(EmulatedProfile, NamesTheFieldThatIsWrong) {
  const auto message = [](const char* change) {
    const Result<Profile> profile = parse_profile(
        std::string(R"({"format": "unstarve-gpu-profile", "version": 1, "based_on": "a100", )") +
        change + "}");
    return profile ? std::string("read") : profile.error().message;
  };
  EXPECT_NE(message(R"("peak": {"f32_flops": -1})").find("peak.f32_flops"), std::string::npos);
  EXPECT_NE(message(R"("peak": {"f32_flops": "x"})").find("peak.f32_flops"), std::string::npos);
  EXPECT_NE(message(R"("peak": 3)").find("peak.f64_flops"), std::string::npos);
  EXPECT_NE(message(R"("architecture": {"multiprocessors": 1.5})").find("multiprocessors"),
            std::string::npos);
  EXPECT_NE(message(R"("architecture": {"compute_capability": "eight"})").find("capability"),
            std::string::npos);
  EXPECT_NE(message(R"("based_on": "nothing")").find("nothing"), std::string::npos);
  EXPECT_NE(message(R"("version": 2)").find("version"), std::string::npos);
}

TEST(EmulatedProfile, DocumentIsBasedOnNoOther) {
  const Result<std::string> document = find_profile_document("h100");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find("based_on"), std::string::npos);
  const Result<Profile> profile = parse_profile(*document);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->multiprocessors, 132);
}

TEST(EmulatedProfile, RefusesWhatIsNoProfile) {
  for (const char* text : {"", "[]", "{", "{}", "null", "{\"format\": 3}"}) {
    EXPECT_FALSE(parse_profile(text)) << text;
  }
  EXPECT_FALSE(find_profile("/no/such/file.json"));
}

}  // namespace
}  // namespace unstarve::emulated
