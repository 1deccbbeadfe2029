#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/test_folder.h"

namespace unstarve::roofline::testing {

/// A program of a shell in the interpreter's place; its path.
inline std::string fake_interpreter(const TestFolder& folder, const std::string& body) {
  const std::string path = folder.path() + "/python";
  std::ofstream(path) << "#!/bin/sh\n" << body;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace unstarve::roofline::testing
