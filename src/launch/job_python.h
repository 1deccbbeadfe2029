#pragma once

#include <string>
#include <vector>

namespace unstarve::launch {

/// An interpreter, and why it is the one that a job would run in.
struct JobPython {
  std::string program;  // empty: there is none
  std::string chosen;   // "the first on PATH"
};

/// `named` where it is not empty; else what `command` starts or its first line names; else the
/// first `python` or `python3` on PATH.
JobPython find_job_python(const std::string& named, const std::vector<std::string>& command);

/// A program as a shell finds it; empty when it does not.
std::string find_program(const std::string& name);

/// The interpreter that a command starts, or that its first line names; empty where it is no
/// Python.
std::string python_of(const std::vector<std::string>& command);

/// Standard output of a short command, or nothing when it fails.
std::string output_of(const std::string& command);

/// The torch that an interpreter would import.
struct TorchBuild {
  std::string version;   // empty: it has none, or does not run
  std::string platform;  // "CUDA 13.2", "ROCm 6.4"; empty: it computes on the CPU alone
  bool has_cuda = false;
};

/// Reads what is installed; torch itself is not imported.
TorchBuild look_at_torch(const std::string& python);

}  // namespace unstarve::launch
