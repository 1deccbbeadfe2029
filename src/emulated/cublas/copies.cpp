#include "emulated/cublas/handle.h"

// Vectors and matrices between the host and the device: copies of the runtime's kind.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

struct Rows {
  int width = 0;  // numbers that lie side by side: a column of a matrix
  int rows = 0;
  int number_bytes = 0;
  int source_pitch = 0;  // numbers
  int target_pitch = 0;
};

Status copy_rows(const Rows& rows, const void* source, void* target, const void* stream) {
  if (rows.width < 0 || rows.rows < 0 || rows.number_bytes <= 0 || rows.source_pitch <= 0 ||
      rows.target_pitch <= 0) {
    return Status::kInvalidValue;
  }
  Target where;
  if (current_target(&where) != Outcome::kSuccess) return Status::kNotInitialized;
  where.stream = stream;
  const auto bytes = static_cast<std::size_t>(rows.number_bytes);
  Copy2d copy;
  copy.source = source;
  copy.source_pitch = static_cast<std::size_t>(rows.source_pitch) * bytes;
  copy.target = target;
  copy.target_pitch = static_cast<std::size_t>(rows.target_pitch) * bytes;
  copy.width_bytes = static_cast<std::size_t>(rows.width) * bytes;
  copy.height = static_cast<std::size_t>(rows.rows);
  return status_of(on_stream(where, [&](Gpu& gpu, Stream* on) {
    const ApiCall call(Call::kMemcpyAsync);
    return gpu.copy(on, copy);
  }));
}

}  // namespace

extern "C" {

Status cublasSetVectorAsync(int n, int number_bytes, const void* host, int step, void* device,
                            int device_step, const void* stream) {
  return copy_rows({1, n, number_bytes, step, device_step}, host, device, stream);
}

Status cublasGetVectorAsync(int n, int number_bytes, const void* device, int step, void* host,
                            int host_step, const void* stream) {
  return copy_rows({1, n, number_bytes, step, host_step}, device, host, stream);
}

Status cublasSetMatrixAsync(int rows, int columns, int number_bytes, const void* host, int pitch,
                            void* device, int device_pitch, const void* stream) {
  return copy_rows({rows, columns, number_bytes, pitch, device_pitch}, host, device, stream);
}

Status cublasGetMatrixAsync(int rows, int columns, int number_bytes, const void* device, int pitch,
                            void* host, int host_pitch, const void* stream) {
  return copy_rows({rows, columns, number_bytes, pitch, host_pitch}, device, host, stream);
}

}  // extern "C"
