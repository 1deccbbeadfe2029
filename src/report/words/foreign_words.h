#pragma once

#include <string>

#include "trace/foreign/foreign_file.h"

namespace unstarve::report {

/// "gpu.csv is a log of nvidia-smi in UTF-16, as PowerShell writes it: ...": what a file is that is
/// no recording, and what to do.
std::string foreign_words(trace::ForeignFile kind, const std::string& path);

}  // namespace unstarve::report
