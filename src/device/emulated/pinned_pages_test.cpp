#include "device/emulated/pinned_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace unstarve::device::emulated {
namespace {

TEST(PinnedPagesTest, OnlyWhatIsOutCountsAsPinned) {
  PinnedPages pages;
  const Result<void*> memory = pages.allocate(5000);
  ASSERT_TRUE(memory);
  const char* first = static_cast<const char*>(*memory);
  EXPECT_TRUE(is_pinned(first));
  EXPECT_TRUE(is_pinned(first + 4999));
  EXPECT_FALSE(is_pinned(first - 1));
  EXPECT_FALSE(is_pinned(first + 8192));
  pages.release(*memory);
  EXPECT_FALSE(is_pinned(first));
}

TEST(PinnedPagesTest, OrdinaryMemoryDoesNot) {
  const std::vector<char> ordinary(5000);
  EXPECT_FALSE(is_pinned(ordinary.data()));
  EXPECT_FALSE(is_pinned(nullptr));
}

}  // namespace
}  // namespace unstarve::device::emulated
