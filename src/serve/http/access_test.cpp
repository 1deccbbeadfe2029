#include "serve/http/access.h"

#include <gtest/gtest.h>

namespace unstarve::serve {
namespace {

const AccessRules kLoopback = {"127.0.0.1", ""};
const AccessRules kOpen = {"0.0.0.0", "secret"};

TEST(Access, LoopbackNeedsNoTokenAndNoOtherName) {
  EXPECT_EQ(check_access(kLoopback, {"localhost:8321", "", "", ""}), Access::kGranted);
  EXPECT_EQ(check_access(kLoopback, {"127.0.0.1:8321", "", "", ""}), Access::kGranted);
  EXPECT_EQ(check_access(kLoopback, {"[::1]:8321", "", "", ""}), Access::kGranted);
  EXPECT_EQ(check_access(kLoopback, {"evil.example:8321", "", "", ""}), Access::kWrongHost);
  EXPECT_EQ(check_access(kLoopback, {"127.evil.example:8321", "", "", ""}), Access::kWrongHost);
  EXPECT_EQ(check_access(kLoopback, {"", "", "", ""}), Access::kWrongHost);
}

TEST(Access, ElsewhereTheTokenIsAskedFor) {
  EXPECT_EQ(check_access(kOpen, {"box:8321", "", "", ""}), Access::kNoToken);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "", "", "secre"}), Access::kNoToken);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "Bearer wrong", "", ""}), Access::kNoToken);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "", "unstarve_token=wrong", ""}), Access::kNoToken);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "Bearer secret", "", ""}), Access::kGranted);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "", "a=b; unstarve_token=secret; c=d", ""}),
            Access::kGranted);
  EXPECT_EQ(check_access(kOpen, {"box:8321", "", "", "secret"}), Access::kGrantedByAddress);
}

TEST(Access, ATokenOnLoopbackIsAskedForToo) {
  const AccessRules rules = {"127.0.0.1", "secret"};
  EXPECT_EQ(check_access(rules, {"localhost", "", "", ""}), Access::kNoToken);
  EXPECT_EQ(check_access(rules, {"evil.example", "Bearer secret", "", ""}), Access::kWrongHost);
}

TEST(Access, TokensAreLongAndDiffer) {
  const auto one = make_token();
  const auto other = make_token();
  ASSERT_TRUE(one);
  ASSERT_TRUE(other);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_NE(*one, *other);
}

}  // namespace
}  // namespace unstarve::serve
