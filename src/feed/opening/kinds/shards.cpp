#include <memory>
#include <string>
#include <utility>

#include "feed/opening/source_kind.h"
#include "feed/shard/shard_source.h"

namespace unstarve::feed {

namespace {

Result<std::shared_ptr<SampleSource>> open_shards(const LoaderOptions& options,
                                                  const std::shared_ptr<io::Files>& /*files*/) {
  Result<std::unique_ptr<ShardSource>> shards = ShardSource::open(options.root);
  if (!shards) return forward_error(shards);
  if (!(*shards)->finished()) {
    // Some of its samples may be missing, and an epoch would silently be shorter.
    return fail(ErrorCode::kCorruptData,
                "{} is cut off, or its packing was interrupted, after {} samples: pack again, or "
                "take these out with `unstarve unpack`",
                options.root, (*shards)->size());
  }
  return std::shared_ptr<SampleSource>(std::move(*shards));
}

}  // namespace

SourceKind shards_source();
SourceKind shards_source() { return {"shards", &ShardSource::is_shards, &open_shards}; }

}  // namespace unstarve::feed
