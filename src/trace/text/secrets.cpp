#include "trace/text/secrets.h"

#include <cctype>
#include <string_view>

namespace unstarve::trace {

namespace {

constexpr const char* kHidden = "***";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Of an argument or a variable: `--hub-token`, `trainer.api_key`, `HF_TOKEN`.
bool names_a_secret(std::string_view name) {
  std::string word;
  const auto is_secret = [&word] {
    for (const char* const part : {"secret", "password", "passwd", "credential"}) {
      if (word.find(part) != std::string::npos) return true;
    }
    return ends_with(word, "key") || ends_with(word, "token");
  };
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      if (is_secret()) return true;
      word.clear();
    }
  }
  return is_secret();
}

/// `https://user:pass@host/` to `https://***@host/`.
std::string without_credentials(const std::string& word) {
  const std::size_t scheme = word.find("://");
  if (scheme == std::string::npos) return word;
  const std::size_t from = scheme + 3;
  const std::size_t path = word.find('/', from);
  const std::size_t at = word.rfind('@', path);
  if (at == std::string::npos || at < from) return word;
  return word.substr(0, from) + kHidden + word.substr(at);
}

}  // namespace

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  bool is_value = false;  // of the option before it
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (is_value && !is_option) {
      shown.emplace_back(kHidden);
      is_value = false;
      continue;
    }
    is_value = false;
    if (equals != std::string::npos && names_a_secret(word.substr(0, equals))) {
      shown.push_back(word.substr(0, equals + 1) + kHidden);
      continue;
    }
    is_value = is_option && equals == std::string::npos && names_a_secret(word);
    shown.push_back(without_credentials(word));
  }
  return shown;
}

}  // namespace unstarve::trace
