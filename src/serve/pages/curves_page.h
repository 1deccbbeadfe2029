#pragma once

#include <string>
#include <vector>

#include "serve/http/message.h"

namespace unstarve::serve {

/// Charts of one run, or of several over each other. The script asks for what they show.
Reply curves_page(const std::vector<std::string>& names);

}  // namespace unstarve::serve
