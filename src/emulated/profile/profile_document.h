#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace unstarve::emulated {

/// A profile as JSON with whatever it is based on merged into it.
Result<nlohmann::json> parse_document(std::string_view text, std::string_view name);
/// The same of a file that comes with unstarve, by its name or an alias; an error lists the names.
Result<nlohmann::json> find_document(std::string_view name);

}  // namespace unstarve::emulated
