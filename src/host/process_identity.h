#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host_files.h"

namespace unstarve::host {

/// What tells one process from all others that ever had its number, on this machine or another.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  // since boot, of /proc/PID/stat
  std::string pid_namespace;     // "pid:[4026531836]": whose numbers these are
  std::string boot_id;           // of the machine since it was started
};

/// This process. Errors: /proc does not say.
Result<ProcessIdentity> own_identity(const HostFiles& files);

/// "4711 881234 pid:[4026531836] 0c9f...", for a file that another process reads.
std::string to_text(const ProcessIdentity& identity);
/// Takes any bytes. Errors: kCorruptData.
Result<ProcessIdentity> parse_process_identity(std::string_view text);

enum class Liveness {
  kAlive,
  kGone,
  kUnknown,  // of another machine or container: nothing here says
};
Liveness liveness_of(const ProcessIdentity& identity, const HostFiles& files);

}  // namespace unstarve::host
