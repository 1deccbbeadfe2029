#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace unstarve::device::emulated {

/// How much of a device's memory is taken. Shared by the device and by every DeviceMemory, which
/// may outlive it (Python drops objects in any order).
/// Thread rule: any thread.
class MemoryAccount {
 public:
  explicit MemoryAccount(std::int64_t total_bytes) : total_bytes_(total_bytes) {}

  bool take(std::int64_t bytes) {
    std::int64_t used = used_bytes_.load();
    while (bytes <= total_bytes_ - used) {
      if (used_bytes_.compare_exchange_weak(used, used + bytes)) {
        raise_reserved(used + bytes);
        return true;
      }
    }
    return false;
  }
  void give_back(std::int64_t bytes) { used_bytes_ -= bytes; }
  std::int64_t used_bytes() const { return used_bytes_.load(); }
  /// The most that was ever used: a framework's allocator keeps what it once took, and the driver
  /// counts that.
  std::int64_t reserved_bytes() const { return reserved_bytes_.load(); }
  std::int64_t total_bytes() const { return total_bytes_; }

 private:
  void raise_reserved(std::int64_t used) {
    std::int64_t reserved = reserved_bytes_.load();
    while (reserved < used && !reserved_bytes_.compare_exchange_weak(reserved, used)) {
    }
  }

  const std::int64_t total_bytes_;
  std::atomic<std::int64_t> used_bytes_{0};
  std::atomic<std::int64_t> reserved_bytes_{0};
};

/// A piece of device memory; nothing lies behind it but the account.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<MemoryAccount> account, std::int64_t bytes)
      : account_(std::move(account)), bytes_(bytes) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { account_->give_back(bytes_); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryAccount> account_;
  std::int64_t bytes_;
};

}  // namespace unstarve::device::emulated
