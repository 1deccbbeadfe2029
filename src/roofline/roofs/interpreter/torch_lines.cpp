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
    auto said = nlohmann::json::parse(line);
    if (!said.is_object()) return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
    if (said.contains("error")) {
      return fail(ErrorCode::kNotFound, "{}", said.at("error").get<std::string>());
    }
    return said;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
  }
}

}  // namespace

const char* const kTorchPrelude = R"PY(
import json, sys, time

def say(**known):
    print(json.dumps(known), flush=True)

try:
    import torch
except Exception as error:
    say(error="%s has no torch that can be imported (%s)" % (sys.executable, error))
    sys.exit(0)

device = sys.argv[1]
on_gpu = device != "cpu"
if on_gpu and not torch.cuda.is_available():
    say(error="torch %s of %s sees no GPU" % (torch.__version__, sys.executable))
    sys.exit(0)
if on_gpu:
    torch.cuda.set_device(device)  # events are of the current GPU

def one_time(start, count):
    if not on_gpu:
        began = time.perf_counter()
        for _ in range(count):
            start()
        return time.perf_counter() - began
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        start()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3

def rates(start, amount, until):
    """What a second has of it, in repeats of some 5 ms."""
    one_time(start, 1)
    once = max(one_time(start, 1), 1e-7)
    count = max(1, int(0.005 / once))
    found = []
    while len(found) < 3 or (time.perf_counter() < until and len(found) < 50):
        found.append(amount * count / max(one_time(start, count), 1e-9))
    return found
)PY";

Result<TorchSaid> ask_torch(std::vector<std::string> words, std::int64_t duration_ns,
                            Session& session) {
  auto process = PrintingProcess::start(std::move(words));
  if (!process) return forward_error(process);
  const auto text = output_of(*process, duration_ns + kPatienceNs, session);
  if (!text) return forward_error(text);
  TorchSaid said;
  std::size_t start = 0;
  for (std::size_t end = text->find('\n'); end != std::string::npos;
       start = end + 1, end = text->find('\n', start)) {
    auto line = read_line(std::string_view(*text).substr(start, end - start));
    if (!line) return forward_error(line);
    said.lines.push_back(*std::move(line));
  }
  if (!session.stopped()) said.status = process->wait();
  return said;
}

}  // namespace unstarve::roofline
