// Functions that NVML has for what only some GPUs have, and an emulated one has not: as on other
// GPUs without it, they are there and not supported. Whatever they are given is not looked at.
#include "emulated/nvml/session.h"

using unstarve::device::nvml::Return;

#define NOT_SUPPORTED(name) \
  UNSTARVE_NVML name() { return Return::kNotSupported; }

// Error correction, and memory that it retired.
NOT_SUPPORTED(nvmlDeviceGetEccMode)
NOT_SUPPORTED(nvmlDeviceGetDefaultEccMode)
NOT_SUPPORTED(nvmlDeviceGetTotalEccErrors)
NOT_SUPPORTED(nvmlDeviceGetDetailedEccErrors)
NOT_SUPPORTED(nvmlDeviceGetMemoryErrorCounter)
NOT_SUPPORTED(nvmlDeviceGetRetiredPages)
NOT_SUPPORTED(nvmlDeviceGetRetiredPages_v2)
NOT_SUPPORTED(nvmlDeviceGetRetiredPagesPendingStatus)
NOT_SUPPORTED(nvmlDeviceGetRemappedRows)

// Of the instances of a GPU, by the function of before there were slices.
NOT_SUPPORTED(nvmlDeviceGetAttributes)

// Parts of a board, and what is written on them.
NOT_SUPPORTED(nvmlDeviceGetFanSpeed)
NOT_SUPPORTED(nvmlDeviceGetFanSpeed_v2)
NOT_SUPPORTED(nvmlDeviceGetTargetFanSpeed)
NOT_SUPPORTED(nvmlDeviceGetMinMaxFanSpeed)
NOT_SUPPORTED(nvmlDeviceGetSerial)
NOT_SUPPORTED(nvmlDeviceGetBoardId)
NOT_SUPPORTED(nvmlDeviceGetBoardPartNumber)
NOT_SUPPORTED(nvmlDeviceGetVbiosVersion)
NOT_SUPPORTED(nvmlDeviceGetInforomVersion)
NOT_SUPPORTED(nvmlDeviceGetInforomImageVersion)
NOT_SUPPORTED(nvmlDeviceGetInforomConfigurationChecksum)
NOT_SUPPORTED(nvmlDeviceGetGspFirmwareVersion)
NOT_SUPPORTED(nvmlDeviceGetGspFirmwareMode)
NOT_SUPPORTED(nvmlDeviceGetBridgeChipInfo)

// The bus and the links, beside what went over them.
NOT_SUPPORTED(nvmlDeviceGetBAR1MemoryInfo)
NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkGeneration)
NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkWidth)
NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkGeneration)
NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkWidth)
NOT_SUPPORTED(nvmlDeviceGetPcieSpeed)
NOT_SUPPORTED(nvmlDeviceGetPcieLinkMaxSpeed)
NOT_SUPPORTED(nvmlDeviceGetNvLinkState)
NOT_SUPPORTED(nvmlDeviceGetNvLinkVersion)
NOT_SUPPORTED(nvmlDeviceGetNvLinkCapability)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
NOT_SUPPORTED(nvmlDeviceGetNvLinkErrorCounter)
NOT_SUPPORTED(nvmlDeviceGetTopologyCommonAncestor)
NOT_SUPPORTED(nvmlDeviceGetTopologyNearestGpus)
NOT_SUPPORTED(nvmlDeviceGetP2PStatus)
NOT_SUPPORTED(nvmlDeviceGetCpuAffinity)
NOT_SUPPORTED(nvmlDeviceGetMemoryAffinity)
NOT_SUPPORTED(nvmlDeviceGetNumaNodeId)

// Hardware counters.
NOT_SUPPORTED(nvmlGpmQueryDeviceSupport)
NOT_SUPPORTED(nvmlGpmSampleAlloc)
NOT_SUPPORTED(nvmlGpmSampleFree)
NOT_SUPPORTED(nvmlGpmSampleGet)
NOT_SUPPORTED(nvmlGpmMetricsGet)
NOT_SUPPORTED(nvmlDeviceGetNumGpuCores)
NOT_SUPPORTED(nvmlDeviceGetRunningProcessDetailList)
NOT_SUPPORTED(nvmlDeviceGetViolationStatus)
NOT_SUPPORTED(nvmlDeviceGetEncoderStats)
NOT_SUPPORTED(nvmlDeviceGetFBCStats)

// Clocks and drivers that can be chosen.
NOT_SUPPORTED(nvmlDeviceGetSupportedMemoryClocks)
NOT_SUPPORTED(nvmlDeviceGetSupportedGraphicsClocks)
NOT_SUPPORTED(nvmlDeviceGetAutoBoostedClocksEnabled)
NOT_SUPPORTED(nvmlDeviceGetDriverModel)
NOT_SUPPORTED(nvmlDeviceGetDriverModel_v2)
NOT_SUPPORTED(nvmlDeviceGetGridLicensableFeatures_v4)
