#pragma once

#include <string>

#include "base/result.h"

namespace unstarve::cli {

/// Where the parts of unstarve that are not this program lie. Empty: not found.
struct Installation {
  std::string hook_dir;       // put on the job's PYTHONPATH
  std::string package_dir;    // the folder that holds the Python package `unstarve`
  std::string emulated_nvml;  // the emulated GPU's NVML-compatible library
  std::string example_dir;    // train.py
  std::string photo_dir;      // the photographs of the demo
  std::string python;         // interpreter for the demo: .venv's, else python3 of PATH
};

/// Looks beside the program (build tree or installed prefix) and, for a build tree, in its sources.
/// UNSTARVE_PYTHON names another interpreter.
Installation find_installation(const std::string& executable);

}  // namespace unstarve::cli
