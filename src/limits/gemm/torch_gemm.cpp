#include "limits/gemm/torch_gemm.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "limits/gemm/torch_script.h"
#include "limits/interpreter/printing_process.h"

namespace unstarve::limits {

namespace {

constexpr int kPollMs = 100;
// Importing torch from a slow disk, and three products more than the time has room for.
constexpr std::int64_t kPatienceNs = 120'000'000'000;
constexpr double kNsPerS = 1e9;
constexpr std::size_t kMostOutputBytes = 1U << 20;

/// All that it prints. Ends early where somebody asks to stop.
Result<std::string> output_of(PrintingProcess& process, std::int64_t limit_ns, Session& session) {
  std::string text;
  const std::int64_t end_ns = session.clock().now_ns() + limit_ns;
  while (!session.stopped()) {
    if (session.clock().now_ns() > end_ns) {
      return fail(ErrorCode::kTimeout, "torch did not end within {:.0f} s",
                  static_cast<double>(limit_ns) / kNsPerS);
    }
    pollfd waited{process.output(), POLLIN, 0};
    if (::poll(&waited, 1, kPollMs) <= 0) continue;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(process.output(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostOutputBytes) return fail(ErrorCode::kCorruptData, "torch prints on");
  }
  return text;
}

Result<TorchGemm> gemm_of(std::string_view line) {
  try {
    const auto said = nlohmann::json::parse(line);
    if (said.contains("error")) {
      return fail(ErrorCode::kNotFound, "{}", said.at("error").get<std::string>());
    }
    TorchGemm gemm;
    gemm.dtype = said.at("dtype").get<std::string>();
    gemm.why_not = said.value("why_not", "");
    if (!gemm.why_not.empty()) return gemm;
    gemm.flop_per_s = said.at("flop_per_s").get<std::vector<double>>();
    const auto shape = said.at("shape").get<std::array<std::int64_t, 3>>();
    gemm.m = shape[0];
    gemm.n = shape[1];
    gemm.k = shape[2];
    gemm.library = said.value("library", "torch.mm");
    gemm.torch_version = said.at("torch").get<std::string>();
    return gemm;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kCorruptData, "torch printed what nobody asked for");
  }
}

/// What one interpreter said of `dtypes`, in their order, and how it ended.
struct Said {
  std::vector<TorchGemm> gemms;
  int status = 0;  // as wait() has it; 0 where somebody asked to stop
};

Result<Said> ask_torch(const TorchGemmOptions& options, std::span<const std::string> dtypes,
                       Session& session) {
  std::vector<std::string> words = {
      options.python,
      "-c",
      kTorchGemmScript,
      options.device,
      std::to_string(options.threads),
      fmt::format("{:.3f}", static_cast<double>(options.duration_ns) / kNsPerS)};
  words.insert(words.end(), dtypes.begin(), dtypes.end());
  auto process = PrintingProcess::start(std::move(words));
  if (!process) return forward_error(process);
  const auto text = output_of(*process, options.duration_ns + kPatienceNs, session);
  if (!text) return forward_error(text);
  Said said;
  std::size_t start = 0;
  for (std::size_t end = text->find('\n'); end != std::string::npos;
       start = end + 1, end = text->find('\n', start)) {
    auto gemm = gemm_of(std::string_view(*text).substr(start, end - start));
    if (!gemm) return forward_error(gemm);
    said.gemms.push_back(std::move(*gemm));
  }
  if (!session.stopped()) said.status = process->wait();
  return said;
}

std::string words_for(int signal) {
  return fmt::format("torch was ended by signal {} in it{}", signal,
                     signal == SIGILL ? ": this machine refuses an instruction" : "");
}

}  // namespace

Result<std::vector<TorchGemm>> run_torch_gemm(const TorchGemmOptions& options, Session& session) {
  std::vector<TorchGemm> gemms;
  while (gemms.size() < options.dtypes.size()) {
    auto said = ask_torch(options, std::span(options.dtypes).subspan(gemms.size()), session);
    if (!said) return forward_error(said);
    for (TorchGemm& gemm : said->gemms) gemms.push_back(std::move(gemm));
    if (session.stopped() || gemms.size() >= options.dtypes.size()) break;
    if (!WIFSIGNALED(said->status)) {
      return fail(ErrorCode::kJobFailed, "{} ended with status {}", options.python,
                  WEXITSTATUS(said->status));
    }
    // One kind of number that crashes, BF16 by AMX on a virtual machine say, costs no other.
    TorchGemm crashed;
    crashed.dtype = options.dtypes[gemms.size()];
    crashed.why_not = words_for(WTERMSIG(said->status));
    gemms.push_back(std::move(crashed));
  }
  return gemms;
}

}  // namespace unstarve::limits
