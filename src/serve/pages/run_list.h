#pragma once

#include <string>
#include <vector>

#include "runs/entries.h"
#include "serve/http/message.h"

namespace unstarve::serve {

/// The runs of a folder as a table that can be searched, from which some are chosen to be compared
/// or drawn over each other; above it the jobs that go on, which the script fills in.
Reply run_list_page(const std::vector<runs::ListedRun>& listed, const std::string& folder);

}  // namespace unstarve::serve
