#include <algorithm>
#include <array>
#include <cerrno>

#include "feed/pipeline/loader_impl.h"

namespace unstarve::feed {
namespace {

/// A disk that is full or cannot be written: the loader goes on without copies.
bool is_of_the_disk(int os_errno) {
  constexpr std::array kErrors = {ENOSPC, EDQUOT, EROFS, EIO};
  return std::find(kErrors.begin(), kErrors.end(), os_errno) != kErrors.end();
}

}  // namespace

Status Loader::Impl::set_up_cache() {
  if (options.cache_dir.empty()) return {};
  if (!source->has_stamps()) {
    no_cache = "what it reads is as fast as copies would be, or cannot be told from them";
    return {};
  }
  CachedSource::Options settings;
  settings.directory = options.cache_dir;
  settings.max_bytes = options.cache_bytes;
  settings.max_file_bytes = options.max_file_bytes;
  const auto start_thread = [starter = parts.threads](const std::function<void()>& body) {
    return starter->start([body](const std::stop_token&) { body(); });
  };
  Result<std::shared_ptr<CachedSource>> opened =
      CachedSource::open(settings, source, {parts.cache_storage, start_thread});
  if (opened) {
    cache = std::move(*opened);
    source = cache;
    return {};
  }
  if (!is_of_the_disk(opened.error().os_errno)) return forward_error(opened);
  no_cache = opened.error().message;
  return {};
}

CacheStats Loader::cache_stats() const {
  if (impl_->cache != nullptr) return impl_->cache->stats();
  CacheStats stats;
  stats.stopped = impl_->no_cache;
  return stats;
}

}  // namespace unstarve::feed
