#include "feed/pipeline/loader_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "feed/pipeline/loader_impl.h"

namespace unstarve::feed {
namespace {

/// A disk that is full or cannot be written: the loader goes on without copies.
bool is_of_the_disk(int os_errno) {
  constexpr std::array kErrors = {ENOSPC, EDQUOT, EROFS, EIO};
  return std::find(kErrors.begin(), kErrors.end(), os_errno) != kErrors.end();
}

}  // namespace

Result<SourceWithCache> with_cache(std::shared_ptr<SampleSource> source,
                                   const LoaderOptions& options, const LoaderParts& parts) {
  SourceWithCache result{std::move(source), nullptr, ""};
  if (options.cache_dir.empty()) return result;
  if (!result.source->has_stamps()) {
    result.no_cache = "what it reads is as fast as copies would be, or cannot be told from them";
    return result;
  }
  CachedSource::Options settings;
  settings.directory = options.cache_dir;
  settings.max_bytes = options.cache_bytes;
  settings.max_file_bytes = options.max_file_bytes;
  const auto start_thread = [starter = parts.threads](const std::function<void()>& body) {
    return starter->start([body](const std::stop_token&) { body(); });
  };
  Result<std::shared_ptr<CachedSource>> opened =
      CachedSource::open(settings, result.source, {parts.cache_files, start_thread, parts.clock});
  if (opened) {
    result.cache = std::move(*opened);
    result.source = result.cache;
    return result;
  }
  if (!is_of_the_disk(opened.error().os_errno)) return forward_error(opened);
  result.no_cache = opened.error().message;
  return result;
}

Status Loader::Impl::set_up_cache() {
  Result<SourceWithCache> found = with_cache(source, options, parts);
  if (!found) return forward_error(found);
  source = std::move(found->source);
  cache = std::move(found->cache);
  no_cache = std::move(found->no_cache);
  return {};
}

CacheStats Loader::cache_stats() const {
  if (impl_->cache != nullptr) return impl_->cache->stats();
  CacheStats stats;
  stats.stopped = impl_->no_cache;
  return stats;
}

}  // namespace unstarve::feed
