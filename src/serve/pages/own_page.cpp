#include "serve/pages/own_page.h"

#include <fmt/format.h>

#include "report/html/escape.h"

namespace unstarve::serve {

namespace {

/// Percent-encoded, as a value in an address.
std::string encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' ||
                          byte == '.' || byte == '~';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

}  // namespace

Reply own_page(const OwnPage& page) {
  Reply reply;
  const char* const drawing = page.draws
                                  ? "<link rel=\"stylesheet\" href=\"/assets/dygraph.css\">\n"
                                    "<script src=\"/assets/dygraph.js\" defer></script>\n"
                                  : "";
  reply.body = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n"
      "{1}<link rel=\"stylesheet\" href=\"/assets/unstarve.css\">\n"
      "<script src=\"/assets/unstarve.js\" defer></script>\n</head>\n<body>\n"
      "<header class=\"top\">\n<span class=\"brand\">unstarve</span>\n{2}</header>\n"
      "<main>\n<h1>{0}</h1>\n{3}</main>\n"
      "<footer>Served from this machine by unstarve. Nothing is loaded from elsewhere.</footer>\n"
      "</body>\n</html>\n",
      report::escape(page.title), drawing, page.links, page.body);
  return reply;
}

Reply page_of_error(int status, const std::string& sentence) {
  Reply reply = own_page(
      {"This cannot be shown", "<nav class=\"top-facts\"><a href=\"/\">All runs</a></nav>\n",
       fmt::format("<section class=\"card\"><p>{}</p></section>\n", report::escape(sentence))});
  reply.status = status;
  return reply;
}

std::string link_to(const std::string& path, const std::string& name, const std::string& run) {
  return path + "?" + name + "=" + encoded(run);
}

std::string link_to_runs(const std::string& path, const std::vector<std::string>& runs) {
  std::string address = path;
  char mark = '?';
  for (const std::string& run : runs) {
    address += mark + ("run=" + encoded(run));
    mark = '&';
  }
  return address;
}

}  // namespace unstarve::serve
