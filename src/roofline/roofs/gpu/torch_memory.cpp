#include "roofline/roofs/gpu/torch_memory.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/units.h"
#include "roofline/roofs/interpreter/scripts.h"
#include "roofline/roofs/interpreter/torch_lines.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

/// What was said of one of them, as a roof.
Result<Roof> roof_of(const nlohmann::json& message, const std::string& name) {
  try {
    if (message.contains("why_not")) {
      return fail(ErrorCode::kNotSupported, "{}", message.at("why_not").get<std::string>());
    }
    const auto rates = message.at("bytes_per_s").get<std::vector<double>>();
    if (rates.empty()) return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
    Roof roof = make_roof(name, "bytes/s", rates);
    roof.conditions.emplace_back("torch", message.at("torch").get<std::string>());
    return roof;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kCorruptData, "{}", kNotAskedFor);
  }
}

/// The lines come in the order of kWhat.
Result<Roof> roof_at(const Result<TorchSaid>& reply, std::size_t at, const std::string& name) {
  if (!reply) return forward_error(reply);
  if (at < reply->lines.size()) return roof_of(reply->lines[at], name);
  return fail(ErrorCode::kJobFailed, "torch ended in it, with wait status {}", reply->status);
}

constexpr std::array<const char*, 2> kWhat = {"read", "triad"};

}  // namespace

void measure_torch_memory(const TorchMemoryOptions& options, const std::string& prefix, double peak,
                          Session& session) {
  session.doing(prefix);
  const auto reply =
      ask_torch({options.python, "-c", behind_torch_process(bandwidth_script()), options.device,
                 fmt::format("{:.3f}", static_cast<double>(options.duration_ns) / kNsPerS),
                 std::to_string(options.array_bytes)},
                options.duration_ns, session);
  if (session.stopped()) return;
  for (std::size_t i = 0; i < kWhat.size(); ++i) {
    const std::string name = fmt::format("{}.{}", prefix, kWhat[i]);
    auto roof = roof_at(reply, i, name);
    if (!roof) {
      session.lacks(name, roof.error().message);
      continue;
    }
    roof->conditions.emplace_back("array_bytes", static_cast<std::int64_t>(options.array_bytes));
    if (peak > 0) {
      session.add_below(*std::move(roof), peak, "the memory's peak rate");
    } else {
      session.add(*std::move(roof));
    }
  }
}

}  // namespace unstarve::roofline
