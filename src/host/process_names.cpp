#include "host/process_names.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace unstarve::host {

namespace {

/// The first namespace of processes has a fixed number: PROC_PID_INIT_INO in Linux's
/// include/linux/proc_ns.h.
constexpr std::string_view kFirstNamespace = "pid:[4026531836]";

}  // namespace

std::vector<std::string> command_of(std::int64_t pid, const HostFiles& files) {
  // A stream throws where the process ends meanwhile.
  const std::string text = files.read(fmt::format("/proc/{}/cmdline", pid)).value_or(std::string());
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\0', from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

std::string user_of(std::int64_t pid, const HostFiles& files) {
  constexpr std::string_view kLine = "\nUid:\t";
  const auto status = files.read(fmt::format("/proc/{}/status", pid));
  const std::size_t at = status ? status->find(kLine) : std::string::npos;
  if (at == std::string::npos) return {};
  uid_t user = 0;
  const char* const digits = status->data() + at + kLine.size();
  if (std::from_chars(digits, status->data() + status->size(), user).ec != std::errc()) return {};
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> texts{};
  const int failed = ::getpwuid_r(user, &entry, texts.data(), texts.size(), &found);
  return failed == 0 && found != nullptr ? std::string(entry.pw_name) : std::to_string(user);
}

bool has_machine_numbers(const HostFiles& files) {
  const auto names = files.link_target("/proc/self/ns/pid");
  return names && *names == kFirstNamespace;
}

}  // namespace unstarve::host
