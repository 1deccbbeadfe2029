#include "report/html/escape.h"

#include "report/words/utf8.h"

namespace unstarve::report {

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = decode_at(text, offset);
    if (is_control(c.value)) {
      safe.push_back(' ');
    } else if (!c.valid) {
      safe.append(kReplacement);
    } else if (c.value == '&') {
      safe.append("&amp;");
    } else if (c.value == '<') {
      safe.append("&lt;");
    } else if (c.value == '>') {
      safe.append("&gt;");
    } else if (c.value == '"') {
      safe.append("&quot;");
    } else if (c.value == '\'') {
      safe.append("&#39;");
    } else {
      safe.append(text.substr(offset, c.bytes));
    }
    offset += c.bytes;
  }
  return safe;
}

}  // namespace unstarve::report
