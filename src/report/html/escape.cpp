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

std::string with_whole_percents(std::string_view html) {
  constexpr std::string_view kSign = " %";
  std::string text;
  std::size_t sign = html.find(kSign);
  while (sign != std::string_view::npos) {
    const std::size_t before = html.substr(0, sign).find_last_not_of("0123456789.");
    const std::size_t number = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = sign + kSign.size();
    text += html.substr(0, number);
    text += "<span class=\"whole\">";
    text += html.substr(number, end - number);
    text += "</span>";
    html.remove_prefix(end);
    sign = html.find(kSign);
  }
  return text.append(html);
}

}  // namespace unstarve::report
