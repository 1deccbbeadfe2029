#pragma once

#include <cstddef>
#include <cstdint>

/// The part of NVML's binary interface that is used here, declared anew. Layouts as of the nvml.h
/// of CUDA 13.3; versioned structures carry their own size in `version`.
namespace unstarve::device::nvml {

/// nvmlDevice_t: opaque.
using DeviceHandle = void*;
/// nvmlGpmSample_t: opaque.
using GpmSample = void*;
/// nvmlEventSet_t: opaque.
using EventSet = void*;

/// nvmlReturn_t. Others exist; they are treated as transient.
enum class Return : std::int32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kLibraryDriverMismatch = 18,
  kNoData = 21,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kUnknown = 999,
};

inline constexpr std::uint32_t kTemperatureGpu = 0;         // nvmlTemperatureSensors_t
inline constexpr std::uint32_t kClockSm = 1;                // nvmlClockType_t
inline constexpr std::uint32_t kClockMemory = 2;            //
inline constexpr std::uint32_t kGpuUtilizationSamples = 1;  // nvmlSamplingType_t
inline constexpr std::uint32_t kFieldPcieTxBytes = 197;     // NVML_FI_DEV_PCIE_COUNT_TX_BYTES
inline constexpr std::uint32_t kFieldPcieRxBytes = 198;     // NVML_FI_DEV_PCIE_COUNT_RX_BYTES
inline constexpr std::uint64_t kValueNotAvailable = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE
inline constexpr std::size_t kNameBytes = 96;               // NVML_DEVICE_NAME_V2_BUFFER_SIZE
inline constexpr std::uint64_t kEventXid = 0x8;             // nvmlEventTypeXidCriticalError
inline constexpr std::uint32_t kNoInstance = 0xFFFF'FFFF;   // of what concerns no MIG instance
inline constexpr std::uint32_t kMigEnabled = 1;             // NVML_DEVICE_MIG_ENABLE
inline constexpr std::uint32_t kGpmVersion = 1;             // of both GPM structures
inline constexpr std::uint32_t kGpmSmActivity = 2;          // NVML_GPM_METRIC_SM_UTIL
inline constexpr std::uint32_t kGpmTensorActivity = 5;      // NVML_GPM_METRIC_ANY_TENSOR_UTIL
inline constexpr std::uint32_t kGpmDramActivity = 10;       // NVML_GPM_METRIC_DRAM_BW_UTIL

/// nvmlGpuTopologyLevel_t: what is common to the ways of two GPUs into the machine.
enum class Ancestor : std::uint32_t {
  kInternal = 0,     // two GPUs of one board
  kSingle = 10,      // one PCIe switch
  kMultiple = 20,    // several PCIe switches, no host bridge
  kHostBridge = 30,  // one host bridge
  kNode = 40,        // host bridges of one NUMA node
  kSystem = 50,      // the links between NUMA nodes
};

/// nvmlMemory_t.
struct MemoryV1 {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(MemoryV1) == 24);

/// nvmlMemory_v2_t.
struct MemoryV2 {
  std::uint32_t version = 0;
  std::uint32_t padding = 0;
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;  // by the driver; v1 counts it as used
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(MemoryV2) == 40);
inline constexpr std::uint32_t kMemoryV2Version = sizeof(MemoryV2) | (2U << 24);

/// nvmlUtilization_t, in percent.
struct Utilization {
  std::uint32_t gpu = 0;
  std::uint32_t memory = 0;
};
static_assert(sizeof(Utilization) == 8);

/// nvmlProcessInfo_v1_t, of the functions without a suffix.
struct ProcessInfoV1 {
  std::uint32_t pid = 0;
  std::uint32_t padding = 0;
  std::uint64_t used_memory = 0;
};
static_assert(sizeof(ProcessInfoV1) == 16);

/// nvmlProcessInfo_v2_t, of the functions _v2 and _v3.
struct ProcessInfoV2 {
  std::uint32_t pid = 0;
  std::uint32_t padding = 0;
  std::uint64_t used_memory = 0;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
};
static_assert(sizeof(ProcessInfoV2) == 24);

/// nvmlValue_t: a union of the C number types.
struct Value {
  std::uint64_t bits = 0;
};

/// nvmlValueType_t.
enum class ValueType : std::uint32_t {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6
};

/// nvmlSample_t; the time is us since 1970.
struct Sample {
  std::uint64_t time_us = 0;
  Value value;
};
static_assert(sizeof(Sample) == 16);

/// nvmlFieldValue_t.
struct FieldValue {
  std::uint32_t field = 0;
  std::uint32_t scope = 0;
  std::int64_t time_us = 0;
  std::int64_t latency_us = 0;
  ValueType type = ValueType::kUnsignedInt;
  Return status = Return::kSuccess;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);

/// nvmlTemperature_v1_t.
struct TemperatureV1 {
  std::uint32_t version = 0;
  std::uint32_t sensor = kTemperatureGpu;
  std::int32_t celsius = 0;
};
static_assert(sizeof(TemperatureV1) == 12);
inline constexpr std::uint32_t kTemperatureV1Version = sizeof(TemperatureV1) | (1U << 24);

/// nvmlEventData_t of nvmlEventSetWait_v2; without the suffix it ends before the instances.
struct EventData {
  DeviceHandle device = nullptr;
  std::uint64_t type = 0;
  std::uint64_t data = 0;  // of an XID its number; 999: the driver does not know it
  std::uint32_t gpu_instance = kNoInstance;
  std::uint32_t compute_instance = kNoInstance;
};
static_assert(sizeof(EventData) == 32);

/// nvmlDeviceAttributes_t: what a MIG instance has of its GPU.
struct DeviceAttributes {
  std::uint32_t multiprocessors = 0;
  std::uint32_t engines[5] = {};  // copies, decoding, encoding, JPEG, optical flow
  std::uint32_t gpu_slices = 0;
  std::uint32_t compute_slices = 0;
  std::uint64_t memory_mib = 0;
};
static_assert(sizeof(DeviceAttributes) == 40);

/// nvmlGpmSupport_t.
struct GpmSupport {
  std::uint32_t version = kGpmVersion;
  std::uint32_t supported = 0;
};
static_assert(sizeof(GpmSupport) == 8);

/// nvmlGpmMetric_t.
struct GpmMetric {
  std::uint32_t id = 0;
  Return status = Return::kSuccess;
  double value = 0;
  void* names[3] = {nullptr, nullptr, nullptr};  // short name, long name, unit
};
static_assert(sizeof(GpmMetric) == 40);

/// nvmlGpmMetricsGet_t. The array has the length of the newest header, since a driver may be built
/// with any; only the first `count` are filled in.
struct GpmMetrics {
  std::uint32_t version = kGpmVersion;
  std::uint32_t count = 0;
  GpmSample earlier = nullptr;
  GpmSample later = nullptr;
  GpmMetric metrics[333] = {};
};
static_assert(sizeof(GpmMetrics) == 13344);

}  // namespace unstarve::device::nvml
