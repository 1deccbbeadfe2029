#include "tune/levers/allocators.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::tune {
namespace {

TEST(Allocators, AreFoundByTheirFiles) {
  const TestFolder folder;
  EXPECT_TRUE(find_allocators({folder.path()}).empty());
  std::ofstream(folder.path() + "/libtcmalloc.so.4") << "";
  std::ofstream(folder.path() + "/libjemalloc.so.2") << "";
  const auto found = find_allocators({folder.path()});
  EXPECT_EQ(found.at("tcmalloc"), folder.path() + "/libtcmalloc.so.4");
  EXPECT_EQ(found.at("jemalloc"), folder.path() + "/libjemalloc.so.2");
}

}  // namespace
}  // namespace unstarve::tune
