#pragma once

#include <string>

#include "trace/timeline/timeline.h"

namespace unstarve::golden {

/// What the writer of an export leaves out, as versions of the schema and options of nsys do.
struct ExportLacks {
  bool runtime = false;       // recorded without calls of CUDA
  bool nvtx = false;          // recorded without NVTX
  bool global_ids = false;    // an old version: nothing says which process an operation is of
  bool memory_kinds = false;  // an old version: copies without srcKind and dstKind
};

/// Writes the Timeline as `nsys export --type sqlite` would have, by the documented schema. Steps
/// become NVTX ranges "step N", waits for the loader those of PyTorch's emit_nvtx. Fetches, loaders
/// and queue depths have no place there and are left out.
void write_nsys_export(const trace::Timeline& timeline, const std::string& path,
                       const ExportLacks& lacks = {});

}  // namespace unstarve::golden
