#include "observe/inside/cupti/testing/fake_cupti.h"

#include "base/clock.h"

namespace unstarve::recording {

using cupti::Code;

namespace {

FakeCupti* g_fake = nullptr;
constexpr std::uint32_t kHighestKind = 60;

}  // namespace

struct FakeFunctions {
  static Code get_version(std::uint32_t* version) {
    *version = 130000;
    return Code::kSuccess;
  }
  static Code register_callbacks(cupti::RequestBuffer request, cupti::CompleteBuffer complete) {
    MutexLock lock(g_fake->mutex_);
    g_fake->request_ = request;
    g_fake->complete_ = complete;
    return g_fake->register_answer;
  }
  static Code enable(std::uint32_t kind) { return g_fake->enable(kind, true); }
  static Code disable(std::uint32_t kind) { return g_fake->enable(kind, false); }
  static Code flush_all(std::uint32_t flag) { return g_fake->flush(flag == cupti::kFlushForced); }
  static Code timestamp(std::uint64_t* out) {
    *out = g_fake->at(SteadyClock().now_ns());
    return g_fake->timestamp_answer;
  }
  static Code dropped(void*, std::uint32_t, std::size_t* out) {
    *out = g_fake->dropped;
    g_fake->dropped = 0;
    return Code::kSuccess;
  }
  static Code enable_call(std::uint32_t call, std::uint8_t on, bool driver) {
    MutexLock lock(g_fake->mutex_);
    const std::uint64_t id = (driver ? 1ULL << 32 : 0) | call;
    if (on != 0) {
      g_fake->calls_on_.insert(id);
    } else {
      g_fake->calls_on_.erase(id);
    }
    return Code::kSuccess;
  }
  static Code enable_runtime_call(std::uint32_t call, std::uint8_t on) {
    return enable_call(call, on, false);
  }
  static Code enable_driver_call(std::uint32_t call, std::uint8_t on) {
    return enable_call(call, on, true);
  }
  static Code next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    MutexLock lock(g_fake->mutex_);
    std::uint8_t* next = buffer;
    if (*record != nullptr) next = *record + g_fake->lengths_[*record];
    if (next >= buffer + valid) return Code::kMaxLimitReached;
    std::uint32_t kind = 0;
    std::memcpy(&kind, next, sizeof(kind));
    if (kind == 0 || kind >= kHighestKind) return Code::kInvalidKind;
    *record = next;
    return Code::kSuccess;
  }
};

// As NVIDIA's headers declare them, which tools/check_cuda_abi.py compares: so are the pointers to
// them in CuptiFunctions.
#define UNSTARVE_CUPTI extern "C" __attribute__((visibility("default"))) cupti::Code

UNSTARVE_CUPTI cuptiGetVersion(std::uint32_t* version) {
  return FakeFunctions::get_version(version);
}
UNSTARVE_CUPTI cuptiActivityRegisterCallbacks(cupti::RequestBuffer request,
                                              cupti::CompleteBuffer complete) {
  return FakeFunctions::register_callbacks(request, complete);
}
UNSTARVE_CUPTI cuptiActivityEnable(std::uint32_t kind) { return FakeFunctions::enable(kind); }
UNSTARVE_CUPTI cuptiActivityDisable(std::uint32_t kind) { return FakeFunctions::disable(kind); }
UNSTARVE_CUPTI cuptiActivityFlushAll(std::uint32_t flag) { return FakeFunctions::flush_all(flag); }
UNSTARVE_CUPTI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                          std::uint8_t** record) {
  return FakeFunctions::next_record(buffer, valid, record);
}
UNSTARVE_CUPTI cuptiGetTimestamp(std::uint64_t* out) { return FakeFunctions::timestamp(out); }
UNSTARVE_CUPTI cuptiActivityGetNumDroppedRecords(void* context, std::uint32_t stream,
                                                 std::size_t* out) {
  return FakeFunctions::dropped(context, stream, out);
}
UNSTARVE_CUPTI cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t on) {
  return FakeFunctions::enable_runtime_call(call, on);
}
UNSTARVE_CUPTI cuptiActivityEnableDriverApi(std::uint32_t call, std::uint8_t on) {
  return FakeFunctions::enable_driver_call(call, on);
}
UNSTARVE_CUPTI cuptiSetThreadIdType(std::uint32_t /*type*/) { return Code::kSuccess; }

FakeCupti::FakeCupti() { g_fake = this; }
FakeCupti::~FakeCupti() { g_fake = nullptr; }

CuptiFunctions FakeCupti::functions() const {
  CuptiFunctions table;
  table.path = "fake";
  table.version = 130000;
  table.get_version = cuptiGetVersion;
  table.register_callbacks = cuptiActivityRegisterCallbacks;
  table.enable = cuptiActivityEnable;
  table.disable = cuptiActivityDisable;
  table.flush_all = cuptiActivityFlushAll;
  table.next_record = cuptiActivityGetNextRecord;
  table.timestamp = cuptiGetTimestamp;
  table.dropped = cuptiActivityGetNumDroppedRecords;
  table.set_thread_id_type = cuptiSetThreadIdType;
  if (!is_old) {
    table.enable_runtime_call = cuptiActivityEnableRuntimeApi;
    table.enable_driver_call = cuptiActivityEnableDriverApi;
  }
  return table;
}

std::uint64_t FakeCupti::at(std::int64_t ns) const {
  return kClockOffset + static_cast<std::uint64_t>(ns) * ticks_per_ns;
}

Code FakeCupti::enable(std::uint32_t kind, bool on) {
  MutexLock lock(mutex_);
  if (!on) {
    enabled_.erase(kind);
    return Code::kSuccess;
  }
  const auto answer = enable_answers.find(kind);
  if (answer != enable_answers.end()) return answer->second;
  enabled_.insert(kind);
  return Code::kSuccess;
}

Code FakeCupti::flush(bool forced) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  {
    MutexLock lock(mutex_);
    if (forced) ++forced_flushes_;
    if (buffer_ == nullptr || (holds_buffers && !forced)) return Code::kSuccess;
    buffer = buffer_;
    size = size_;
    used = used_;
    buffer_ = nullptr;
  }
  complete_(nullptr, 0, buffer, size, used);
  return Code::kSuccess;
}

void FakeCupti::emit_bytes(std::span<const std::uint8_t> record) {
  MutexLock lock(mutex_);
  if (buffer_ == nullptr) {
    std::size_t most = 0;
    request_(&buffer_, &size_, &most);
    used_ = 0;
  }
  std::memcpy(buffer_ + used_, record.data(), record.size());
  lengths_[buffer_ + used_] = record.size();
  used_ += record.size();
}

void FakeCupti::complete_foreign(std::uint8_t* buffer, std::size_t bytes) {
  complete_(nullptr, 0, buffer, bytes, bytes);
}

std::set<std::uint32_t> FakeCupti::enabled() {
  MutexLock lock(mutex_);
  return enabled_;
}

std::size_t FakeCupti::calls_on() {
  MutexLock lock(mutex_);
  return calls_on_.size();
}

int FakeCupti::forced_flushes() {
  MutexLock lock(mutex_);
  return forced_flushes_;
}

}  // namespace unstarve::recording
