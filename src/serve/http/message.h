#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unstarve::serve {

/// What a browser asks for.
struct Request {
  std::string path;                                        // "/api/series"
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in their order

  /// The first value of that name; empty where there is none.
  std::string_view value(std::string_view name) const {
    const auto found = std::find_if(query.begin(), query.end(),
                                    [name](const auto& pair) { return pair.first == name; });
    return found == query.end() ? std::string_view() : std::string_view(found->second);
  }
  std::vector<std::string> values(std::string_view name) const {
    std::vector<std::string> all;
    for (const auto& [key, one] : query) {
      if (key == name) all.push_back(one);
    }
    return all;
  }
};

inline constexpr const char* kHtml = "text/html; charset=utf-8";
inline constexpr const char* kJson = "application/json";
inline constexpr const char* kPlainText = "text/plain; charset=utf-8";
/// The format that Prometheus reads.
inline constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

/// What the pages may load: files of this server alone.
inline constexpr const char* kOwnFilesOnly =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// Of a page that names what it may load itself.
inline constexpr const char* kNamedInThePage = "frame-ancestors 'none'";

struct Reply {
  int status = 200;
  std::string type = kHtml;
  std::string body;
  std::string policy = kOwnFilesOnly;  // Content-Security-Policy
  std::string file_name;               // not empty: the browser stores it under this name
  bool may_keep = false;               // a file that is the same for as long as the server lives
};

inline Reply refuse(int status, std::string why) {
  Reply reply;
  reply.status = status;
  reply.type = kPlainText;
  reply.body = std::move(why) + "\n";
  return reply;
}

}  // namespace unstarve::serve
