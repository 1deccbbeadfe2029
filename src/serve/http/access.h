#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::serve {

/// Who may ask. Loopback needs no token: whoever reaches it is on this machine.
struct AccessRules {
  std::string host;   // that the server listens at, as it was given
  std::string token;  // empty: none is asked for
};

/// What a request says of itself; empty where it has no such line.
struct Credentials {
  std::string_view host;           // the header
  std::string_view authorization;  // likewise
  std::string_view cookie;         // likewise
  std::string_view token;          // of the address
};

enum class Access {
  kGranted,
  kGrantedByAddress,  // the browser is to keep the token, so that it leaves the address
  kWrongHost,         // another site's name leads here (DNS rebinding)
  kNoToken,
};

Access check_access(const AccessRules& rules, const Credentials& credentials);

/// "127.0.0.1", "127.1.2.3", "::1", "localhost".
bool is_loopback(std::string_view host);

/// 128 bits of chance as hexadecimal digits. Errors: the system gives none.
Result<std::string> make_token();

inline constexpr const char* kTokenCookie = "unstarve_token";

}  // namespace unstarve::serve
