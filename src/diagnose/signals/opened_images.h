#pragma once

#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// Work of a fetch that worker processes of unstarve.DataLoader do in compiled code (decision
/// 0034): a data set opens a JPEG with Pillow, and gives it to transforms of torchvision, alone or
/// with masks and boxes, or cuts and resizes it itself.
enum class OpenedImageWork { kNone, kDecoding, kTransforming };

OpenedImageWork opened_image_work(const trace::Stack& stack);

}  // namespace unstarve::diagnose
