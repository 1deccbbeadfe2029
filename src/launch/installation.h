#pragma once

#include <string>

#include "base/result.h"

namespace unstarve::launch {

/// Where the parts of unstarve that are not this program lie. Empty: not found.
struct Installation {
  std::string hook_dir;            // put on the job's PYTHONPATH
  std::string package_dir;         // the folder that holds the Python package `unstarve`
  std::string cupti_library;       // what the CUDA driver loads into the job to record it
  std::string looks_library;       // what the hook loads, to look at pure Python too
  std::string emulated_libraries;  // the folder of what stands in for NVIDIA's libraries
  std::string example_dir;         // train.py
  std::string photo_dir;           // the photographs of the demo
  std::string python;              // interpreter for the demo: the one of this environment
  bool installed = false;          // package_dir is an environment's, with other people's packages
};

/// A program of this build takes everything from the build and its sources, any other from the
/// package below its prefix. UNSTARVE_PYTHON names another interpreter.
Installation find_installation(const std::string& executable);

/// The same for a program that was installed as PREFIX/bin/unstarve, by pip or `make install`.
Installation find_installed(const std::string& prefix);

/// The variable by which another tool shows that it takes CUPTI for itself, which has one user;
/// empty: none does.
std::string cupti_taken_by(const Installation& parts);

/// A folder that holds the package and nothing else, for PYTHONPATH; in `folder` where it has to be
/// made. An environment's own folder would put its packages before the job's.
Result<std::string> lone_package_dir(const Installation& parts, const std::string& folder);

}  // namespace unstarve::launch
