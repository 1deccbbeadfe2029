#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::diagnose {

struct HostSignals;

/// A file of compiled code, and its share of what fetches ran.
struct LibraryShare {
  std::string library;  // "libjpeg.so.62.4.0"
  std::string what;     // "JPEG images"; empty: not one that is known
  double share = 0;     // of the looks
};

/// Whose compiled code ran while batches were fetched, as looks at its instructions found it: CPU
/// time outside of the kernel. What Python's bytecode does is in Python's own file.
struct LibraryTime {
  std::vector<LibraryShare> parts = {};  // by share, largest first; below 1 % left out
  std::int64_t looks = 0;                // in all; 0: nobody looked, or was allowed to
};

/// What a library is for, by its file's name; empty where it is not known.
std::string_view what_library_does(std::string_view library);

LibraryTime library_time(const HostSignals& host);

/// "54 % JPEG images, 21 % Pillow, 15 % Python itself": by purpose, of 5 % and more. Empty where
/// fewer than 50 looks tell.
std::string library_list(const LibraryTime& time);

}  // namespace unstarve::diagnose
