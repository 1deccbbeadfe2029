#pragma once

#include <cstdint>

#include "feed/cache/cache_storage.h"

namespace unstarve::feed::test {

/// Files that were made just now count as old: copies of them are kept.
class LaterStorage : public CacheStorage {
 public:
  std::int64_t now_ns() override { return CacheStorage::now_ns() + 3'600'000'000'000; }
};

}  // namespace unstarve::feed::test
