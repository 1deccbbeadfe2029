#include <cstdint>

// libnvToolsExt: marks and ranges of a program for a profiler, of which there is none. What newer
// programs use of it is headers alone.

namespace {

thread_local int depth = 0;

}  // namespace

extern "C" {

void nvtxMarkA(const char*) {}
void nvtxMarkW(const wchar_t*) {}
void nvtxMarkEx(const void*) {}

std::uint64_t nvtxRangeStartA(const char*) { return 0; }
std::uint64_t nvtxRangeStartEx(const void*) { return 0; }
void nvtxRangeEnd(std::uint64_t) {}

/// The depth of the range that begins, counted from zero.
int nvtxRangePushA(const char*) { return depth++; }
int nvtxRangePushEx(const void*) { return depth++; }

/// The depth of the range that ends; below zero: there is none.
int nvtxRangePop() { return depth > 0 ? --depth : -1; }

void nvtxNameOsThreadA(std::uint32_t, const char*) {}

}  // extern "C"
