#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace unstarve::trace {

/// A text that somebody may have sent as JSON; discarded where it is none, or nests deeper than 64:
/// to copy or compare such values takes a frame of the stack for each.
nlohmann::json parse_json(std::string_view text);

}  // namespace unstarve::trace
