#include "feed/pipeline/loader_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unstarve::feed {
namespace {

using testing::HasSubstr;

LoaderState example() {
  LoaderState state;
  state.seed = 0xFFFFFFFFFFFFFFFF;
  state.position = {3, 81920, 320};
  state.samples = 1'281'167;
  state.fingerprint = 0x9F0C;
  state.bad = {7, 19, 4'000'000'000};
  return state;
}

TEST(LoaderState, SurvivesTheWayThroughJson) {
  const std::string json = to_json(example());
  EXPECT_LT(json.size(), 300U);
  const Result<LoaderState> read = parse_loader_state(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), json);
  EXPECT_EQ(read->seed, example().seed);
  EXPECT_EQ(read->position.consumed, 81920U);
  EXPECT_EQ(read->bad, example().bad);
  EXPECT_EQ(read->fingerprint, 0x9F0CU);
}

TEST(LoaderState, RefusesWhatIsNotOne) {
  const std::string sound = to_json(example());
  for (const std::string broken : {"", "{", "[]", "3", "{}", "{\"format\": 3}"}) {
    EXPECT_EQ(parse_loader_state(broken).error().code, ErrorCode::kCorruptData) << broken;
  }
  // Each value replaced by one that it cannot be, and each byte cut off.
  for (std::size_t size = 0; size < sound.size(); ++size) {
    EXPECT_FALSE(parse_loader_state(sound.substr(0, size)));
  }
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = sound;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return parse_loader_state(text.replace(at, from.size(), to)).error();
  };
  EXPECT_EQ(changed("state/1", "state/2").code, ErrorCode::kNotSupported);
  EXPECT_THAT(changed("\"epoch\":3", "\"epoch\":-3").message, HasSubstr("epoch"));
  EXPECT_THAT(changed("\"epoch\":3", "\"epoch\":5000000000").message, HasSubstr("epoch"));
  EXPECT_THAT(changed("81920", "\"x\"").message, HasSubstr("consumed"));
  EXPECT_THAT(changed("shuffled", "sorted").message, HasSubstr("order"));
  EXPECT_THAT(changed("9f0c", "9g0c").message, HasSubstr("fingerprint"));
  EXPECT_THAT(changed("7,+12", "7,12").message, HasSubstr("bad"));
  EXPECT_THAT(changed("+12", "+4294967295").message, HasSubstr("bad"));
}

TEST(LoaderState, SaysWhatDiffers) {
  const LoaderState own = example();
  EXPECT_TRUE(check_restorable(example(), own));
  LoaderState other = own;
  other.fingerprint = 1;
  EXPECT_THAT(check_restorable(other, own).error().message, HasSubstr("another data set"));
  other = own;
  other.seed = 4;
  EXPECT_THAT(check_restorable(other, own).error().message, HasSubstr("seed 4"));
  other = own;
  other.order = LoaderState::Order::kSequential;
  EXPECT_THAT(check_restorable(other, own).error().message, HasSubstr("sequential"));
  other.order = LoaderState::Order::kSubmitted;
  EXPECT_TRUE(check_restorable(other, own));
}

}  // namespace
}  // namespace unstarve::feed
