#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/cupti_abi.h"
#include "base/result.h"

namespace unstarve::recording {

extern "C" {
using CuptiNumber = cupti::Code (*)(std::uint32_t);
using CuptiGetVersion = cupti::Code (*)(std::uint32_t* version);
using CuptiRegister = cupti::Code (*)(cupti::RequestBuffer, cupti::CompleteBuffer);
using CuptiNextRecord = cupti::Code (*)(std::uint8_t* buffer, std::size_t valid_bytes,
                                        std::uint8_t** record);
using CuptiDropped = cupti::Code (*)(void* context, std::uint32_t stream, std::size_t* dropped);
using CuptiTimestamp = cupti::Code (*)(std::uint64_t* timestamp);
using CuptiEnableCall = cupti::Code (*)(std::uint32_t call, std::uint8_t on);
}

/// The functions of CUPTI that we call, as NVIDIA's header cupti_activity.h declares them.
struct CuptiFunctions {
  std::string path;           // of the library
  std::uint32_t version = 0;  // of its interface: 27 is CUDA 12.9, 130000 CUDA 13.0

  CuptiGetVersion get_version = nullptr;
  CuptiRegister register_callbacks = nullptr;
  CuptiNumber enable = nullptr;   // an activity kind
  CuptiNumber disable = nullptr;  // an activity kind
  CuptiNumber flush_all = nullptr;
  CuptiNextRecord next_record = nullptr;
  CuptiTimestamp timestamp = nullptr;
  // Those that old ones lack; nullptr then.
  CuptiDropped dropped = nullptr;
  CuptiEnableCall enable_runtime_call = nullptr;
  CuptiEnableCall enable_driver_call = nullptr;
  CuptiNumber set_thread_id_type = nullptr;
};

/// The CUPTI that is in the process; where there is none, the one beside the CUDA runtime that is,
/// or in the linker's search path. It stays loaded. Two copies would be two states, of which the
/// driver knows one.
Result<CuptiFunctions> find_cupti();

}  // namespace unstarve::recording
