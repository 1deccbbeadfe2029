#pragma once

#include <string_view>

namespace unstarve::cost {

/// The text of `data/list_prices.json`, which the build writes into the library.
std::string_view list_prices();

}  // namespace unstarve::cost
