#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// What one interpreter said, and how it ended.
struct TorchSaid {
  std::vector<nlohmann::json> lines;
  int status = 0;  // as wait() has it; 0 where somebody asked to stop
};

/// Runs `words` (`python -c SCRIPT ...`), for `duration_ns` and what importing torch takes; ends
/// early where somebody asks to stop. Errors: there is no such interpreter, it did not end, it
/// printed what is no JSON, or {"error": MESSAGE}, which is the message then.
Result<TorchSaid> ask_torch(std::vector<std::string> words, std::int64_t duration_ns,
                            Session& session);

/// Of what is JSON and not what was asked for.
inline constexpr const char* kNotAskedFor = "torch printed what nobody asked for";

}  // namespace unstarve::roofline
