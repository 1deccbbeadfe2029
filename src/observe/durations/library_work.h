#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "emulated/duration/work.h"
#include "observe/durations/traced_event.h"

namespace unstarve::observe {

/// What an operation asks of the libraries, from the shapes that a trace gives.
struct LibraryWork {
  std::optional<emulated::MatmulWork> matmul;
  std::vector<emulated::ConvolutionWork> convolutions;  // one of each pass that it computes
};

/// What comes out of a convolution, by the dimensions of its input and its weight: old profilers
/// write them with the backward pass only.
using KnownOutputs = std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>,
                              std::vector<std::int64_t>>;
void note_output(const TracedOperation& operation, KnownOutputs& known);

/// Nothing where the trace was recorded without shapes or they do not fit the operation.
std::optional<LibraryWork> library_work(const TracedOperation& operation,
                                        const KnownOutputs& known);

}  // namespace unstarve::observe
