#pragma once

#include <functional>
#include <map>
#include <string>

#include "emulated/nvrtc/nvrtc_abi.h"

namespace unstarve::emulated::nvrtc {

/// What an nvrtcProgram points to.
struct Program {
  bool compiled = false;
  std::map<std::string, std::string, std::less<>> lowered_names;
  std::string image;
};

}  // namespace unstarve::emulated::nvrtc
