#pragma once

#include <string_view>

namespace unstarve::report::assets {

/// The files beside this header, built into the program by embed.cmake.
std::string_view page();    // report.html
std::string_view style();   // report.css
std::string_view script();  // report.js

/// Their SHA-256 in base64, for the page's Content-Security-Policy.
std::string_view style_hash();
std::string_view script_hash();

}  // namespace unstarve::report::assets
