#pragma once

#include <string>

#include "base/error.h"

namespace unstarve::cli {

/// Why an input could not be read: what the file is, where it is in no form of a recording; else
/// the error as it was.
Error explained(Error error, const std::string& path);

}  // namespace unstarve::cli
