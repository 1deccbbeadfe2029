#pragma once

#include <string>

#include "base/result.h"
#include "report/terminal/terminal.h"
#include "runs/query/query.h"

namespace unstarve::report {

/// A table. `for_terminal`: what is longer than a line is cut.
std::string rows_table(const runs::QueryResult& result, const TextOptions& options,
                       bool for_terminal);

/// An array of objects. A blob is its bytes in hexadecimal digits. Errors: kInvalidArgument where
/// two columns have one name.
Result<std::string> rows_json(const runs::QueryResult& result);

/// RFC 4180, with a line of titles; NULL is an empty cell. `for_terminal`: controls in texts are
/// blanks.
std::string rows_csv(const runs::QueryResult& result, const TextOptions& options,
                     bool for_terminal);

}  // namespace unstarve::report
