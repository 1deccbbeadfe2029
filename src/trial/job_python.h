#pragma once

#include <string>
#include <vector>

namespace unstarve::trial {

/// An interpreter, and why it is the one that a job would run in.
struct JobPython {
  std::string program;  // empty: there is none
  std::string chosen;   // "the first on PATH"
};

/// `named` where it is not empty; else what `command` starts or its first line names; else the
/// first `python` or `python3` on PATH.
JobPython find_job_python(const std::string& named, const std::vector<std::string>& command);

}  // namespace unstarve::trial
