#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/nvml_abi.h"

/// What the stand-in needs of NVML's binary interface beyond what we read ourselves.
namespace unstarve::device::nvml {

inline constexpr std::uint32_t kClockGraphics = 0;             // nvmlClockType_t
inline constexpr std::uint32_t kTemperatureSlowdown = 1;       // nvmlTemperatureThresholds_t
inline constexpr std::uint32_t kTemperatureGpuMax = 3;         //
inline constexpr std::uint32_t kPcieTx = 0;                    // nvmlPcieUtilCounter_t
inline constexpr std::uint32_t kPcieRx = 1;                    //
inline constexpr std::uint32_t kPowerSamples = 0;              // nvmlSamplingType_t
inline constexpr std::uint32_t kMemoryUtilizationSamples = 2;  //
inline constexpr std::uint32_t kSmClockSamples = 5;            //
inline constexpr std::uint32_t kMemoryClockSamples = 6;        //
inline constexpr std::uint32_t kFieldEnergy = 83;           // NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
inline constexpr std::uint32_t kFieldPowerAverage = 185;    // NVML_FI_DEV_POWER_AVERAGE
inline constexpr std::uint32_t kFieldPowerInstant = 186;    // NVML_FI_DEV_POWER_INSTANT
inline constexpr std::uint32_t kFieldPowerLimit = 190;      // NVML_FI_DEV_POWER_CURRENT_LIMIT
inline constexpr std::uint32_t kBrandNvidia = 14;           // nvmlBrandType_t
inline constexpr std::uint32_t kArchitectureUnknown = ~0U;  // nvmlDeviceArchitecture_t

/// nvmlPciInfo_v2_t, of the functions without a suffix and _v2.
struct PciInfoV2 {
  char bus_id[16] = {};
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t pci_device_id = 0;
  std::uint32_t pci_subsystem_id = 0;
  std::uint32_t reserved[4] = {};
};
static_assert(sizeof(PciInfoV2) == 52 && offsetof(PciInfoV2, bus) == 20);

/// nvmlPciInfo_t, of _v3.
struct PciInfoV3 {
  char bus_id_legacy[16] = {};
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t pci_device_id = 0;
  std::uint32_t pci_subsystem_id = 0;
  char bus_id[32] = {};
};
static_assert(sizeof(PciInfoV3) == 68 && offsetof(PciInfoV3, bus_id) == 36);

/// nvmlBAR1Memory_t.
struct Bar1Memory {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(Bar1Memory) == 24);

/// nvmlProcessUtilizationSample_t; the time is us since 1970.
struct ProcessUtilizationSample {
  std::uint32_t pid = 0;
  std::uint64_t time_us = 0;
  std::uint32_t sm_percent = 0;
  std::uint32_t memory_percent = 0;
  std::uint32_t encoder_percent = 0;
  std::uint32_t decoder_percent = 0;
};
static_assert(sizeof(ProcessUtilizationSample) == 32);
static_assert(offsetof(ProcessUtilizationSample, time_us) == 8);

}  // namespace unstarve::device::nvml
