#include "roofline/roofs/gpu/torch_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/roofs/interpreter/testing/fake_interpreter.h"

namespace unstarve::roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TorchMemory : public ::testing::Test {
 protected:
  /// By an interpreter that does this, with a memory of 2e12 bytes/s.
  void measure(const std::string& body) {
    const std::string python = testing::fake_interpreter(folder_, body);
    measure_torch_memory({python, "cuda:0", 1U << 20, 0}, "gpu.0.hbm", 2e12, session_);
  }
  std::vector<std::string> absent() {
    std::vector<std::string> found;
    for (const AbsentRoof& roof : session_.result().absent) {
      found.push_back(roof.name + ": " + roof.reason);
    }
    return found;
  }

  TestFolder folder_;
  SteadyClock clock_;
  Session session_{clock_, {}};
};

TEST_F(TorchMemory, TheBestRepeatIsTheRoof) {
  measure(R"(
[ "$4" = 0.000 ] && [ "$5" = 1048576 ] || exit 1
echo '{"bytes_per_s": [1.5e12, 1.7e12, 1.6e12], "torch": "2.15"}'
echo '{"bytes_per_s": [1.8e12], "torch": "2.15"}'
)");
  ASSERT_THAT(absent(), ElementsAre());
  ASSERT_EQ(session_.result().roofs.size(), 2U);
  EXPECT_EQ(session_.result().roofs[0].name, "gpu.0.hbm.read");
  EXPECT_EQ(session_.result().roofs[0].value, 1.7e12);
  EXPECT_EQ(session_.result().roofs[1].name, "gpu.0.hbm.triad");
}

TEST_F(TorchMemory, WhatIsNotMeasuredIsAbsentByName) {
  measure(R"(
echo '{"why_not": "CUDA out of memory"}'
echo '{"bytes_per_s": [9e12], "torch": "2.15"}'
)");
  EXPECT_THAT(absent(), ElementsAre("gpu.0.hbm.read: CUDA out of memory",
                                    AllOf(HasSubstr("gpu.0.hbm.triad: "), HasSubstr("refused"))));
}

TEST_F(TorchMemory, AnInterpreterThatEndsInItLosesWhatCameAfter) {
  measure("echo '{\"bytes_per_s\": [1.5e12], \"torch\": \"2.15\"}'; kill -SEGV $$\n");
  EXPECT_EQ(session_.result().roofs.size(), 1U);
  EXPECT_THAT(absent(), ElementsAre(HasSubstr("triad: torch ended in it, with wait status")));
}

TEST_F(TorchMemory, WhatNobodyAskedForIsNoRoof) {
  for (const char* output : {"hello", "[1]", "{\"bytes_per_s\": []}", "{\"bytes_per_s\": [1e9]}",
                             "{\"bytes_per_s\": \"fast\", \"torch\": \"2\"}"}) {
    measure(std::string("echo '") + output + "'\n");
  }
  EXPECT_TRUE(session_.result().roofs.empty());
  EXPECT_EQ(absent().size(), 10U);
}

}  // namespace
}  // namespace unstarve::roofline
