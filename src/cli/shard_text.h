#pragma once

#include <string>

namespace unstarve::cli {

/// "1.4 GB", "312 kB": decimal units, as disks are sold.
std::string bytes_text(double bytes);

/// "0.8 s", "42 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace unstarve::cli
