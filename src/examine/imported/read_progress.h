#pragma once

#include <cstdint>
#include <functional>

namespace unstarve::examine {

/// Told how far the reading of a trace is, in bytes.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace unstarve::examine
