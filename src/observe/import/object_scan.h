#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace unstarve::observe {

/// One JSON object inside a text: [begin, end), from its `{` to behind its `}`.
struct ObjectSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Finds the complete objects at the start of `text`, which continues an array of objects: after
/// `[` or between two elements. Appends their spans and returns where the last one ends (0 without
/// one). Stops where something other than white space or commas lies between two objects, which is
/// the array's end or an error; both are for the caller to see. Strings and escapes are respected;
/// nothing else is checked, since skipping is what this is for.
/// `text` is shorter than 4 GiB and followed by at least 64 readable bytes.
std::size_t find_objects(std::string_view text, std::vector<ObjectSpan>& spans);

/// The same, one byte after the other: what the tests compare find_objects() with.
std::size_t find_objects_plain(std::string_view text, std::vector<ObjectSpan>& spans);

}  // namespace unstarve::observe
