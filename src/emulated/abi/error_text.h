#pragma once

namespace unstarve::emulated::cuda {

/// What the numbers of cudaError_t and CUresult are called, and what they mean. nullptr: the API
/// has no such number. The texts live for ever.
const char* runtime_error_name(int code);
const char* driver_error_name(int code);
const char* error_text(int code);

}  // namespace unstarve::emulated::cuda
