#pragma once

#include <string_view>

namespace unstarve::serve::assets {

/// The files of assets/ and dygraphs', built into the program by assets/embed.cmake.
std::string_view script();         // serve.js
std::string_view style();          // serve.css
std::string_view dygraphs();       // dygraph.min.js, with its licence at the top
std::string_view dygraph_style();  // dygraph.min.css

}  // namespace unstarve::serve::assets
