#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ring/ring_names.h"
#include "trace/store/run_sink.h"

namespace unstarve::trace {

enum class HookRecord : std::uint8_t { kTaken, kEnd, kDamaged };

/// Hands one hook event (64 bytes, docs/formats/run.md) of process `id` to `sink` as a row.
/// `stacks` are the words of the stacks that it may refer to; without them such events are passed
/// over. kEnd: it was the last one of the process. kDamaged: nothing was handed out; the bytes may
/// come from anywhere.
HookRecord decode_hook_event(std::span<const std::byte> record, const ProcessId& id, RunSink& sink,
                             RingNamesReader* stacks = nullptr);

}  // namespace unstarve::trace
