#pragma once

#include <cstdint>
#include <string_view>

namespace unstarve::diagnose {

/// What an error's number means.
struct XidWords {
  std::int64_t xid = 0;
  std::string_view meaning;  // "GPU memory page fault"
  std::string_view advice;   // what to do, in a few words
};

/// Of the numbers that jobs meet, by NVIDIA's catalogue of XIDs
/// (docs.nvidia.com/deploy/xid-errors, "Analyzing Xid Errors with the Xid Catalog"); of any other
/// a meaning that says so.
XidWords words_of_xid(std::int64_t xid);

}  // namespace unstarve::diagnose
