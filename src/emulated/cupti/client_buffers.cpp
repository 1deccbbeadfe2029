#include "emulated/cupti/client_buffers.h"

#include <cstring>

namespace unstarve::emulated {

std::size_t record_bytes(std::uint32_t kind) {
  switch (kind) {
    case cupti::kKindKernel:
    case static_cast<std::uint32_t>(cupti::Kind::kConcurrentKernel): return kRecordBytesMax;
    case static_cast<std::uint32_t>(cupti::Kind::kMemcpy): return sizeof(cupti::Memcpy);
    case static_cast<std::uint32_t>(cupti::Kind::kMemset): return sizeof(cupti::Memset);
    case static_cast<std::uint32_t>(cupti::Kind::kDriver):
    case static_cast<std::uint32_t>(cupti::Kind::kRuntime): return sizeof(cupti::ApiCall);
    case static_cast<std::uint32_t>(cupti::Kind::kSynchronization):
      return sizeof(cupti::Synchronization);
    case cupti::kKindExternalCorrelation: return sizeof(cupti::ExternalCorrelation);
    default: return 0;
  }
}

cupti::Code next_record(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record) {
  if (buffer == nullptr || record == nullptr) return cupti::Code::kInvalidParameter;
  std::size_t offset = 0;
  std::uint32_t kind = 0;
  if (*record != nullptr) {
    if (*record < buffer || *record >= buffer + valid_bytes) {
      return cupti::Code::kInvalidParameter;
    }
    std::memcpy(&kind, *record, sizeof(kind));
    const std::size_t bytes = record_bytes(kind);
    if (bytes == 0) return cupti::Code::kInvalidKind;
    offset = static_cast<std::size_t>(*record - buffer) + bytes;
  }
  if (offset + sizeof(kind) > valid_bytes) return cupti::Code::kMaxLimitReached;
  std::memcpy(&kind, buffer + offset, sizeof(kind));
  const std::size_t bytes = record_bytes(kind);
  if (bytes == 0) return cupti::Code::kInvalidKind;
  if (bytes > valid_bytes - offset) return cupti::Code::kMaxLimitReached;
  *record = buffer + offset;
  return cupti::Code::kSuccess;
}

bool ClientBuffers::open() {
  if (buffer_ != nullptr) return true;
  if (!has_callbacks()) return false;
  used_ = 0;
  records_ = 0;
  size_ = 0;
  records_max_ = 0;
  request_(&buffer_, &size_, &records_max_);
  if (buffer_ != nullptr && size_ >= kRecordBytesMax) return true;
  if (buffer_ != nullptr) give_back();
  return false;
}

bool ClientBuffers::add(std::span<const std::byte> record) {
  const bool full =
      size_ - used_ < record.size() || (records_max_ != 0 && records_ == records_max_);
  if (buffer_ != nullptr && full) give_back();
  if (!open()) return false;
  std::memcpy(buffer_ + used_, record.data(), record.size());
  used_ += record.size();
  ++records_;
  return true;
}

void ClientBuffers::give_back() {
  if (buffer_ == nullptr) return;
  std::uint8_t* const buffer = buffer_;
  buffer_ = nullptr;
  complete_(nullptr, 0, buffer, size_, used_);
}

}  // namespace unstarve::emulated
