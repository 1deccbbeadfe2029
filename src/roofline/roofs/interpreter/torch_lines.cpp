#include "roofline/roofs/interpreter/torch_lines.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "roofline/roofs/interpreter/printing_process.h"
#include "roofline/roofs/interpreter/scripts.h"

namespace unstarve::roofline {

namespace {

constexpr int kPollMs = 100;
// Importing torch from a slow disk, and three repeats more than the time has room for.
constexpr std::int64_t kPatienceNs = 120'000'000'000;
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

Result<nlohmann::json> read_line(std::string_view line) {
  try {
    auto message = nlohmann::json::parse(line);
    if (!message.is_object()) return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
    if (message.contains("error")) {
      return fail(ErrorCode::kNotFound, "{}", message.at("error").get<std::string>());
    }
    return message;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
  }
}

}  // namespace

std::string behind_torch_process(std::string_view script) {
  return std::string(torch_process_script()) + std::string(script);
}

Result<TorchSaid> ask_torch(std::vector<std::string> words, std::int64_t duration_ns,
                            Session& session) {
  auto process = PrintingProcess::start(std::move(words));
  if (!process) return forward_error(process);
  const auto text = output_of(*process, duration_ns + kPatienceNs, session);
  if (!text) return forward_error(text);
  TorchSaid reply;
  std::size_t start = 0;
  for (std::size_t end = text->find('\n'); end != std::string::npos;
       start = end + 1, end = text->find('\n', start)) {
    auto line = read_line(std::string_view(*text).substr(start, end - start));
    if (!line) return forward_error(line);
    reply.lines.push_back(*std::move(line));
  }
  if (!session.stopped()) reply.status = process->wait();
  return reply;
}

}  // namespace unstarve::roofline
