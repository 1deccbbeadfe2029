#pragma once

#include <string>

#include "report/words/utf8.h"

namespace unstarve::report {

/// A document of nlohmann's as it is printed: indented by two, with a newline at its end. What is
/// no UTF-8 in it is replaced, and no control of a name reaches a terminal.
template <class Json>
std::string json_text(const Json& document) {
  return without_controls(document.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace unstarve::report
