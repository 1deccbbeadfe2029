#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// How to read somebody else's trace.
struct ImportOptions {
  /// Called now and then with the bytes of the file read so far and in all, as stored (so for a
  /// .gz: compressed). Empty: nobody is told.
  std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress;
  /// How much JSON is looked at together. Memory is this plus the Timeline, whatever the file's
  /// size.
  std::size_t window_bytes = 256 * 1024;
  /// Longest single event or property accepted; the window grows up to this for it.
  std::size_t max_value_bytes = 16 * 1024 * 1024;
  /// Most operations, calls, waits and steps kept (about 56 bytes each); more is an error.
  std::uint64_t max_events = 50'000'000;
  /// Most bytes of distinct names kept; more is an error.
  std::uint64_t max_name_bytes = 256 * 1024 * 1024;
};

/// Reads a PyTorch profiler (Kineto) or Chrome trace, plain or gzip (told by content), into a
/// Timeline. Times keep the trace's own clock, in nanoseconds.
///
///   Result<trace::Timeline> timeline = import_kineto("trace.json.gz");
///   if (!timeline) return forward_error(timeline);
///
/// Errors name the file and the byte (of the decompressed JSON; of the compressed file where the
/// compression itself is damaged): kCorruptData for what is no trace, is damaged or is cut off.
/// Single events that make no sense (no time, negative duration) are counted in events_lost.
Result<trace::Timeline> import_kineto(const std::string& path, const ImportOptions& options = {});

/// The same for bytes already in memory; `name` stands for the file in messages.
Result<trace::Timeline> import_kineto_bytes(std::span<const char> bytes, const std::string& name,
                                            const ImportOptions& options = {});

}  // namespace unstarve::observe
