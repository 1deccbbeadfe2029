#include "feed/pipeline/loader_parts.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/io/files.h"
#include "host/effective_cpus.h"

namespace unstarve::feed {

Result<std::jthread> ThreadStarter::start(std::function<void(std::stop_token)> body) {
  try {
    return std::jthread(std::move(body));
  } catch (const std::system_error& error) {
    return fail_errno(error.code().value(), "cannot start a loading thread");
  } catch (...) {
    return tl::unexpected<Error>(caught_error());
  }
}

int usable_cpu_count() {
  const Result<host::EffectiveCpus> cpus = host::effective_cpus(host::HostFiles());
  if (cpus) return static_cast<int>(cpus->count);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

LoaderParts LoaderParts::real() {
  LoaderParts parts;
  parts.files = io::plain_files();
  parts.memory = std::make_shared<PageableMemory>();
  parts.threads = std::make_shared<ThreadStarter>();
  parts.clock = std::make_shared<SteadyClock>();
  parts.cache_files = io::plain_files();
  return parts;
}

}  // namespace unstarve::feed
