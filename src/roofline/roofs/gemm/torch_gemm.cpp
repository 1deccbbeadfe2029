#include "roofline/roofs/gemm/torch_gemm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/units.h"
#include "roofline/roofs/interpreter/scripts.h"
#include "roofline/roofs/interpreter/torch_lines.h"

namespace unstarve::roofline {

namespace {

Result<TorchGemm> gemm_of(const nlohmann::json& message) {
  try {
    TorchGemm gemm;
    gemm.dtype = message.at("dtype").get<std::string>();
    gemm.why_not = message.value("why_not", "");
    if (!gemm.why_not.empty()) return gemm;
    gemm.flop_per_s = message.at("flop_per_s").get<std::vector<double>>();
    const auto shape = message.at("shape").get<std::array<std::int64_t, 3>>();
    gemm.m = shape[0];
    gemm.n = shape[1];
    gemm.k = shape[2];
    gemm.library = message.value("library", "torch.mm");
    gemm.torch_version = message.at("torch").get<std::string>();
    return gemm;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
  }
}

/// Of `dtypes`, in their order, as far as the interpreter came.
Result<TorchSaid> multiply(const TorchGemmOptions& options, std::span<const std::string> dtypes,
                           Session& session) {
  std::vector<std::string> words = {
      options.python,
      "-c",
      behind_torch_process(gemm_script()),
      options.device,
      std::to_string(options.threads),
      fmt::format("{:.3f}", static_cast<double>(options.duration_ns) / kNsPerS)};
  words.insert(words.end(), dtypes.begin(), dtypes.end());
  return ask_torch(std::move(words), options.duration_ns, session);
}

std::string words_for(int signal) {
  return fmt::format("torch was ended by signal {} in it{}", signal,
                     signal == SIGILL ? ": this machine refuses an instruction" : "");
}

}  // namespace

Result<std::vector<TorchGemm>> run_torch_gemm(const TorchGemmOptions& options, Session& session) {
  std::vector<TorchGemm> gemms;
  while (gemms.size() < options.dtypes.size()) {
    const auto reply = multiply(options, std::span(options.dtypes).subspan(gemms.size()), session);
    if (!reply) return forward_error(reply);
    for (const nlohmann::json& line : reply->lines) {
      auto gemm = gemm_of(line);
      if (!gemm) return forward_error(gemm);
      gemms.push_back(*std::move(gemm));
    }
    if (session.stopped() || gemms.size() >= options.dtypes.size()) break;
    if (!WIFSIGNALED(reply->status)) {
      return fail(ErrorCode::kJobFailed, "{} ended with status {}", options.python,
                  WEXITSTATUS(reply->status));
    }
    // One kind of number that crashes, BF16 by AMX on a virtual machine say, costs no other.
    TorchGemm crashed;
    crashed.dtype = options.dtypes[gemms.size()];
    crashed.why_not = words_for(WTERMSIG(reply->status));
    gemms.push_back(std::move(crashed));
  }
  return gemms;
}

}  // namespace unstarve::roofline
