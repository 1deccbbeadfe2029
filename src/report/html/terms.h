#pragma once

#include <string>
#include <string_view>

#include "report/model/report_model.h"

namespace unstarve::report {

/// `shown` as a button that explains it where it stands, by pointer, touch and keyboard, and
/// without a script. A word that html_words() does not define is escaped text.
std::string explained(std::string_view shown);

/// finding_title() with its cause so.
std::string explained_title(const diagnose::Finding& finding);

}  // namespace unstarve::report
