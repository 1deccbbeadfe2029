#pragma once

#include <string>
#include <vector>

#include "launch/job_python.h"

namespace unstarve::launch {

/// Why a command cannot be given emulated GPUs, and what to do about it; empty where it can, or
/// where that cannot be told. Said of the program that is started and, where that is a Python, of
/// the torch that it would import: a launcher may start another.
///
/// Libraries are given to a program by the C library's loader: a statically linked program has
/// none, and musl's knows no auditing. torch without CUDA asks for no library of NVIDIA's.
std::string why_not_emulated(const std::vector<std::string>& command);

/// The same of a file in ELF's format. Exposed for tests.
std::string why_not_given_libraries(const std::string& program);

/// What to do where a job's torch is not built for CUDA.
std::string how_to_install_cuda(const TorchBuild& torch);

}  // namespace unstarve::launch
