#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/unique_handle.h"
#include "emulated/process/gpu.h"

namespace unstarve::emulated {

namespace {

struct Seen {
  Mutex mutex;
  std::set<std::string> lines UNSTARVE_GUARDED_BY(mutex);
};

Seen& seen() {
  static auto* all = new Seen;
  return *all;
}

}  // namespace

void report_missing(const char* library, const char* function) {
  const char* path = std::getenv("UNSTARVE_EMULATED_LOG");
  if (path == nullptr || *path == '\0') return;
  const std::string line = std::string(library) + " " + function + "\n";
  {
    MutexLock lock(seen().mutex);
    if (!seen().lines.insert(line).second) return;
  }
  const FileDescriptor file(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // One write a line: processes share the file. Nobody can be told where it fails.
  if (file && ::write(file.get(), line.data(), line.size()) < 0) return;
}

}  // namespace unstarve::emulated
