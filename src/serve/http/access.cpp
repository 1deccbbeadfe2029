#include "serve/http/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace unstarve::serve {

namespace {

/// In a time that says nothing of where two texts differ.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differ == 0;
}

/// "localhost:8321" without the port; "[::1]:8321" without the brackets too.
std::string_view without_port(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    const std::size_t close = host.find(']');
    return close == std::string_view::npos ? std::string_view() : host.substr(1, close - 1);
  }
  return host.substr(0, host.rfind(':'));
}

/// Of a header "a=1; b=2".
std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    std::string_view one = cookies.substr(0, end);
    cookies = end == std::string_view::npos ? std::string_view() : cookies.substr(end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.substr(0, name.size()) == name && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  // A name such as "127.0.0.1.example" is anybody's.
  return host.substr(0, 4) == "127." &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Access check_access(const AccessRules& rules, const Credentials& credentials) {
  if (is_loopback(rules.host)) {
    const std::string_view asked = without_port(credentials.host);
    if (!is_loopback(asked) && asked != rules.host) return Access::kWrongHost;
  }
  if (rules.token.empty()) return Access::kGranted;
  constexpr std::string_view kBearer = "Bearer ";
  if (credentials.authorization.substr(0, kBearer.size()) == kBearer &&
      is_same(credentials.authorization.substr(kBearer.size()), rules.token)) {
    return Access::kGranted;
  }
  if (is_same(credentials.token, rules.token)) return Access::kGrantedByAddress;
  return is_same(cookie_value(credentials.cookie, kTokenCookie), rules.token) ? Access::kGranted
                                                                              : Access::kNoToken;
}

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size())) {
    return fail_errno(errno, "no random bytes for a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace unstarve::serve
