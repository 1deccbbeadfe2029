#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cupti_records.h"

/// The part of CUPTI's binary interface that our stand-in implements and that our recording library
/// calls, declared anew, beside the records of base/cupti_records.h. The same in CUDA 12 and 13:
/// newer records only grow at their end.
namespace unstarve::cupti {

/// CUptiResult.
enum class Code : std::int32_t {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidDevice = 2,
  kInvalidContext = 3,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kParameterSizeNotSufficient = 10,
  kApiNotImplemented = 11,
  kMaxLimitReached = 12,
  kNotReady = 13,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kQueueEmpty = 18,
  kInvalidHandle = 19,
  kInvalidStream = 20,
  kInvalidKind = 21,
  kNotSupported = 27,
  kMultipleSubscribersNotSupported = 39,
  kUnknown = 999,
};

/// CUpti_ActivityKind, beside those of Kind (base/cupti_enums.h).
inline constexpr std::uint32_t kKindKernel = 3;     // one kernel at a time
inline constexpr std::uint32_t kKindPeerCopy = 22;  // CUPTI_ACTIVITY_KIND_MEMCPY2
inline constexpr std::uint32_t kKindExternalCorrelation = 39;
inline constexpr std::uint32_t kKindCount = 60;

/// CUpti_ExternalCorrelationKind: 1 to 5.
inline constexpr std::uint32_t kExternalKindMin = 1;
inline constexpr std::uint32_t kExternalKindMax = 5;

inline constexpr std::uint32_t kFlushForced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

inline constexpr std::uint32_t kThreadIdDefault = 0;  // pthread_self()
inline constexpr std::uint32_t kThreadIdSystem = 1;   // gettid()

/// CUpti_CallbackDomain.
enum class Domain : std::uint32_t {
  kDriver = 1,
  kRuntime = 2,
  kResource = 3,
  kSynchronize = 4,
  kNvtx = 5,
  kState = 6,
};

/// CUpti_ActivityExternalCorrelation.
struct ExternalCorrelation {
  std::uint32_t kind = kKindExternalCorrelation;
  std::uint32_t external_kind = 0;
  std::uint64_t external_id = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ExternalCorrelation) == 24);
static_assert(offsetof(ExternalCorrelation, external_id) == 8);
static_assert(offsetof(ExternalCorrelation, correlation_id) == 16);

/// CUpti_ActivityMemcpyPtoP4, as far as its predecessors have it.
struct PeerCopy {
  std::uint32_t kind = kKindPeerCopy;
  std::uint8_t copy_kind = 0;
  std::uint8_t source_kind = 0;
  std::uint8_t target_kind = 0;
  std::uint8_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t device_id = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t source_device_id = 0;
  std::uint32_t source_context_id = 0;
  std::uint32_t target_device_id = 0;
  std::uint32_t target_context_id = 0;
  std::uint32_t correlation_id = 0;
};
static_assert(sizeof(PeerCopy) == 64 && offsetof(PeerCopy, correlation_id) == 60);

/// CUpti_CallbackData.
struct CallbackData {
  std::uint32_t site = 0;  // 0: entered, 1: about to return
  const char* function_name = nullptr;
  const void* function_parameters = nullptr;
  void* function_return_value = nullptr;
  const char* symbol_name = nullptr;
  void* context = nullptr;
  std::uint32_t context_id = 0;
  std::uint64_t* correlation_data = nullptr;
  std::uint32_t correlation_id = 0;
};
static_assert(sizeof(CallbackData) == 72 && offsetof(CallbackData, function_name) == 8);
static_assert(offsetof(CallbackData, context_id) == 48);
static_assert(offsetof(CallbackData, correlation_id) == 64);

extern "C" {
/// CUpti_BuffersCallbackRequestFunc.
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* records_max);
/// CUpti_BuffersCallbackCompleteFunc.
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t size, std::size_t valid_size);
/// CUpti_TimestampCallbackFunc.
using ReadTimestamp = std::uint64_t (*)();
/// CUpti_CallbackFunc.
using Callback = void (*)(void* user_data, std::uint32_t domain, std::uint32_t call,
                          const void* data);
}

}  // namespace unstarve::cupti
