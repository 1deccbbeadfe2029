#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace unstarve::report::sample {

/// Compares with src/report/testdata/NAME. With UNSTARVE_UPDATE_GOLDEN=1 in the environment the
/// file is written instead; read the difference before it is committed.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(UNSTARVE_SOURCE_DIR) + "/src/report/testdata/" + name;
  if (std::getenv("UNSTARVE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, expected) << "differs from " << path;
}

}  // namespace unstarve::report::sample
