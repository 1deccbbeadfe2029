#include "observe/import/object_scan.h"

namespace unstarve::observe {

std::size_t find_objects_plain(std::string_view text, std::vector<ObjectSpan>& spans) {
  std::size_t done = 0;
  std::size_t depth = 0;
  std::size_t start = 0;
  bool in_string = false;
  bool escaped = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    const bool was_escaped = escaped;
    escaped = byte == '\\' && !was_escaped;
    if (byte == '"' && !was_escaped) {
      in_string = !in_string;
    } else if (in_string) {
      continue;
    } else if (byte == '{') {
      if (depth++ > 0) continue;
      if (text.substr(done, at - done).find_first_not_of(" \t\r\n,") != text.npos) return done;
      start = at;
    } else if (byte == '}') {
      if (depth == 0) return done;
      if (--depth > 0) continue;
      spans.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(at + 1)});
      done = at + 1;
    }
  }
  return done;
}

}  // namespace unstarve::observe
