#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// Products of matrices by torch, which calls the library that training uses: oneDNN or MKL on a
/// CPU, cuBLASLt on a GPU.
struct TorchGemmOptions {
  std::string python;               // an interpreter; torch is imported by it alone
  std::string device = "cpu";       // or "cuda:0"
  std::vector<std::string> dtypes;  // "float32", "tf32", "bfloat16", "float16", "float8"
  int threads = 1;                  // of the CPU
  std::int64_t duration_ns = 0;     // of all products; importing torch is not in it
};

/// One dtype: its best shape.
struct TorchGemm {
  std::string dtype;
  std::vector<double> flop_per_s;  // of the repeats
  std::int64_t m = 0, n = 0, k = 0;
  std::string library;  // "torch.mm", or "oneDNN" where that was faster
  std::string torch_version;
  std::string why_not;  // not empty: it was not measured
};

/// Runs them in a process of its own, which ends with the time, or when somebody asks to stop.
/// Errors: there is no such interpreter, it has no torch, or it ended otherwise; the message says
/// so by name.
Result<std::vector<TorchGemm>> run_torch_gemm(const TorchGemmOptions& options, Session& session);

}  // namespace unstarve::roofline
