#pragma once

#include <cstdint>

/// The part of NVRTC's binary interface that is used here, declared anew; the same in CUDA 12
/// and 13.
namespace unstarve::emulated::nvrtc {

/// nvrtcResult.
enum class Result : std::int32_t {
  kSuccess = 0,
  kOutOfMemory = 1,
  kProgramCreationFailure = 2,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kNoNamesAfterCompilation = 8,
  kNoLoweredNamesBeforeCompilation = 9,
  kNameNotValid = 10,
  kInternalError = 11,
};

#if UNSTARVE_CUDA_MAJOR >= 13
inline constexpr int kMajor = 13;
inline constexpr int kMinor = 2;
#else
inline constexpr int kMajor = 12;
inline constexpr int kMinor = 8;
#endif

}  // namespace unstarve::emulated::nvrtc
