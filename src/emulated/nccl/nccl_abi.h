#pragma once

#include <cstddef>
#include <cstdint>

/// The part of NCCL's binary interface that is used here, declared anew. Values and layouts as of
/// the nccl.h of NCCL 2.18 to 2.30, which add to each other at the ends.
namespace unstarve::emulated::nccl {

/// ncclResult_t.
enum class Result : std::int32_t {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

/// ncclRedOp_t. From kFirstCustomOp on: made by ncclRedOpCreatePreMulSum.
inline constexpr std::int32_t kSum = 0;
inline constexpr std::int32_t kProd = 1;
inline constexpr std::int32_t kMax = 2;
inline constexpr std::int32_t kMin = 3;
inline constexpr std::int32_t kAvg = 4;
inline constexpr std::int32_t kFirstCustomOp = 5;

/// ncclDataType_t is collective/reduction.h's Element.
inline constexpr std::int32_t kDataTypes = 12;

/// ncclScalarResidence_t.
inline constexpr std::int32_t kScalarDevice = 0;
inline constexpr std::int32_t kScalarHostImmediate = 1;

inline constexpr std::size_t kUniqueIdBytes = 128;
inline constexpr std::int32_t kSplitNoColor = -1;
inline constexpr std::int32_t kUndefinedInt = INT32_MIN;
inline constexpr std::uint32_t kConfigMagic = 0xcafebeef;
inline constexpr std::uint32_t kSimulationMagic = 0x74685283;
inline constexpr std::int32_t kShrinkAbort = 1;

/// ncclUniqueId.
struct UniqueId {
  char bytes[kUniqueIdBytes];
};
static_assert(sizeof(UniqueId) == 128);

/// The beginning of ncclConfig_t, whose size grows from version to version.
struct Config {
  std::size_t size;
  std::uint32_t magic;
  std::uint32_t version;
  std::int32_t blocking;
};
static_assert(offsetof(Config, blocking) == 16);

/// ncclSimInfo_t.
struct SimulationInfo {
  std::size_t size;
  std::uint32_t magic;
  std::uint32_t version;
  float estimated_time;
};
static_assert(offsetof(SimulationInfo, estimated_time) == 16);

}  // namespace unstarve::emulated::nccl
