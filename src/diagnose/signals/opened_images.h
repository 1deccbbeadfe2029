#pragma once

#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// Work of a fetch that worker processes of unstarve.DataLoader do in compiled code (decision
/// 0034): a data set opens a JPEG with Pillow, and gives it to a composition of torchvision's.
enum class OpenedImageWork { kNone, kDecoding, kTransforming };

OpenedImageWork opened_image_work(const trace::Stack& stack);

}  // namespace unstarve::diagnose
