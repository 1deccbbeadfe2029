#pragma once

#include <string_view>
#include <vector>

namespace unstarve::emulated {

struct ProfileFile {
  std::string_view name;  // without ".json"
  std::string_view json;
};

/// The files of `profile/data`, which the build writes into the library.
std::vector<ProfileFile> profile_files();

}  // namespace unstarve::emulated
