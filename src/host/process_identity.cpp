#include "host/process_identity.h"

#include <fmt/format.h>

#include <charconv>

#include "host/procfs.h"

namespace unstarve::host {

namespace {

constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";
constexpr const char* kNamespace = "/proc/self/ns/pid";

Result<std::string> boot_id(const HostFiles& files) {
  Result<std::string> text = files.read(kBootId);
  if (!text) return text;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

Result<ProcessStat> stat_of(std::string_view process, const HostFiles& files) {
  const Result<std::string> text = files.read(fmt::format("/proc/{}/stat", process));
  if (!text) return forward_error(text);
  return parse_process_stat(*text);
}

/// Takes the word up to the next blank from `rest`.
std::string_view next_word(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view word = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  return word;
}

bool read_number(std::string_view word, std::int64_t& number) {
  const char* const end = word.data() + word.size();
  const auto [rest, failed] = std::from_chars(word.data(), end, number);
  return failed == std::errc() && rest == end && number > 0;
}

}  // namespace

Result<ProcessIdentity> own_identity(const HostFiles& files) {
  const Result<ProcessStat> stat = stat_of("self", files);
  if (!stat) return forward_error(stat);
  Result<std::string> numbers = files.link_target(kNamespace);
  if (!numbers) return forward_error(numbers);
  Result<std::string> boot = boot_id(files);
  if (!boot) return forward_error(boot);
  return ProcessIdentity{stat->pid, stat->start_ticks, *std::move(numbers), *std::move(boot)};
}

std::string to_text(const ProcessIdentity& identity) {
  return fmt::format("{} {} {} {}", identity.pid, identity.start_ticks, identity.pid_namespace,
                     identity.boot_id);
}

Result<ProcessIdentity> parse_process_identity(std::string_view text) {
  ProcessIdentity identity;
  const bool numbers = read_number(next_word(text), identity.pid) &&
                       read_number(next_word(text), identity.start_ticks);
  identity.pid_namespace = next_word(text);
  identity.boot_id = next_word(text);
  if (!numbers || identity.pid_namespace.empty() || identity.boot_id.empty() || !text.empty()) {
    return fail(ErrorCode::kCorruptData, "no process is named by it");
  }
  return identity;
}

Liveness liveness_of(const ProcessIdentity& identity, const HostFiles& files) {
  const Result<std::string> boot = boot_id(files);
  if (!boot || *boot != identity.boot_id) return Liveness::kUnknown;
  const Result<std::string> numbers = files.link_target(kNamespace);
  if (!numbers || *numbers != identity.pid_namespace) return Liveness::kUnknown;
  const Result<ProcessStat> stat = stat_of(std::to_string(identity.pid), files);
  if (!stat)
    return stat.error().code == ErrorCode::kNotFound ? Liveness::kGone : Liveness::kUnknown;
  // A zombie writes nothing any more.
  const bool same = stat->start_ticks == identity.start_ticks && stat->state != 'Z';
  return same ? Liveness::kAlive : Liveness::kGone;
}

}  // namespace unstarve::host
