#pragma once

#include <cstdint>

#include "base/io/files.h"

namespace unstarve::feed::test {

/// Files that were made just now count as old: copies of them are kept.
class LaterFiles : public io::Files {
 public:
  std::int64_t now_ns() override { return io::Files::now_ns() + 3'600'000'000'000; }
};

}  // namespace unstarve::feed::test
