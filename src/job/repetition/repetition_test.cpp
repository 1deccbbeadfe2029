#include "job/repetition/repetition.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>

namespace unstarve::job {
namespace {

/// A sequence in letters: each is a kernel, '>' a copy from the host, '<' one to it, '|' the
/// beginning of a window.
class Sequence {
 public:
  Sequence& add(std::string_view letters, int times = 1) {
    for (int i = 0; i < times; ++i) {
      for (const char letter : letters) {
        if (letter == '|') {
          begins_ = true;
          continue;
        }
        Launched operation;
        operation.what = static_cast<std::uint32_t>(letter);
        operation.touches_host = letter == '>' || letter == '<';
        operation.begins_window = begins_;
        begins_ = false;
        launched.push_back(operation);
      }
    }
    return *this;
  }

  std::vector<Launched> launched;

 private:
  bool begins_ = false;
};

/// How often the unit of `size` comes, or -1 where a stretch is of another size.
int times_of(const std::vector<Launched>& launched, std::size_t size) {
  int times = 0;
  for (const Stretch& stretch : repeated_stretches(launched)) {
    if (stretch.size() != size) return -1;
    ++times;
  }
  return times;
}

TEST(Repetition, OfPlainStepsIsEachStep) {
  const Sequence steps = Sequence().add("wxyzw").add("abcdefg<", 50);
  const int found = times_of(steps.launched, 8);
  EXPECT_GE(found, 48);
  EXPECT_LE(found, 50);
}

TEST(Repetition, InsideAStepIsNoStep) {
  // Twelve layers of four kernels, and ten equal updates of parameters.
  Sequence steps;
  for (int i = 0; i < 40; ++i) steps.add(">e").add("lmno", 12).add("hc<").add("u", 10);
  const std::size_t size = 2 + 48 + 3 + 10;
  EXPECT_GE(times_of(steps.launched, size), 38);
}

TEST(Repetition, OfTimeStepsDiffersInLength) {
  Sequence steps;
  for (int i = 0; i < 60; ++i) steps.add("e").add("rs", 5 + i % 7).add("hc<uu");
  const std::vector<Stretch> found = repeated_stretches(steps.launched);
  EXPECT_GE(found.size(), 57U);
}

TEST(Repetition, WithoutTheHostIsTheOutermostThatIsMoreThanARemark) {
  Sequence tokens;  // an embedding, layers, a head; no copy anywhere
  for (int i = 0; i < 30; ++i) tokens.add("en").add("lmno", 32).add("hst");
  EXPECT_GE(times_of(tokens.launched, 2 + 128 + 3), 28);

  Sequence logged;  // every twentieth step the loss is copied to the host
  for (int i = 0; i < 12; ++i) logged.add("abcdefgh", 20).add("<");
  int whole = 0;
  for (const Stretch& stretch : repeated_stretches(logged.launched)) {
    whole += stretch.size() <= 9 ? 1 : 0;
  }
  EXPECT_GE(whole, 230);
}

TEST(Repetition, GoesOnBehindAnEvaluation) {
  Sequence steps;
  for (int epoch = 0; epoch < 3; ++epoch) steps.add(">abcdefg<", 40).add(">abc<", 60);
  EXPECT_GE(times_of(steps.launched, 9), 114);
  EXPECT_LE(times_of(steps.launched, 9), 120);
}

TEST(Repetition, SurvivesSomeStepsThatDiffer) {
  std::mt19937 random(7);
  Sequence steps;
  for (int i = 0; i < 200; ++i) steps.add(">abcd").add(random() % 5 == 0 ? "xy" : "e").add("fgh<");
  const std::vector<Stretch> found = repeated_stretches(steps.launched);
  EXPECT_GE(found.size(), 195U);
  EXPECT_LE(found.size(), 200U);
}

TEST(Repetition, DoesNotReachFromOneWindowIntoTheNext) {
  Sequence steps;
  for (int window = 0; window < 10; ++window) steps.add("|defgh<").add(">abcdefgh<", 5).add(">abc");
  for (const Stretch& stretch : repeated_stretches(steps.launched)) {
    for (std::size_t i = stretch.first + 1; i < stretch.end; ++i) {
      EXPECT_FALSE(steps.launched[i].begins_window);
    }
  }
  EXPECT_GE(times_of(steps.launched, 10), 40);
}

TEST(Repetition, IsNoneInNoise) {
  std::mt19937 random(3);
  for (const unsigned kinds : {3U, 8U, 40U}) {
    Sequence noise;
    for (int i = 0; i < 20'000; ++i) {
      noise.launched.push_back({static_cast<std::uint32_t>(random() % kinds), false, false});
    }
    EXPECT_TRUE(repeated_stretches(noise.launched).empty()) << kinds << " kinds";
  }
  EXPECT_TRUE(repeated_stretches({}).empty());
}

TEST(Repetition, OfOneKernelAloneIsNone) {
  EXPECT_TRUE(repeated_stretches(Sequence().add("a", 1000).launched).empty());
  EXPECT_TRUE(repeated_stretches(Sequence().add("abcdefgh", 4).launched).empty());  // too few
}

TEST(Repetition, OfALongRunTakesNoLongTime) {
  Sequence steps;
  std::string_view layer = "abcdefghijkl";
  for (int i = 0; i < 2'000; ++i) steps.add(">e").add(layer, 24).add("xyz<");
  EXPECT_GE(times_of(steps.launched, 2 + 288 + 4), 1'990);
}

}  // namespace
}  // namespace unstarve::job
