#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cupti_abi.h"

namespace unstarve::emulated {

/// The largest record that the stand-in hands out, with the padding that CUPTI's newest kernel
/// record has at its end.
inline constexpr std::size_t kRecordBytesMax = 224;

/// Bytes that a record of this kind takes in a buffer, a multiple of 8; 0: no kind of ours.
std::size_t record_bytes(std::uint32_t kind);

/// Walks through a client's buffer: `*record` is the record after it, or the first for nullptr.
cupti::Code next_record(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record);

/// Fills buffers that the client hands out and takes back. Its callbacks run inside open(), add()
/// and give_back().
/// Thread rule: one thread at a time; the owner locks.
class ClientBuffers {
 public:
  void set_callbacks(cupti::RequestBuffer request, cupti::CompleteBuffer complete) {
    request_ = request;
    complete_ = complete;
  }
  bool has_callbacks() const { return request_ != nullptr && complete_ != nullptr; }

  /// Asks for a buffer, if there is none. False: the client gave none that can hold a record.
  bool open();
  /// False: there is no room for it, and it is lost. `record` has the size of its kind.
  bool add(std::span<const std::byte> record);
  /// Gives the buffer back, as far as it is filled.
  void give_back();

 private:
  cupti::RequestBuffer request_ = nullptr;
  cupti::CompleteBuffer complete_ = nullptr;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::size_t records_ = 0;
  std::size_t records_max_ = 0;  // 0: as many as fit
};

}  // namespace unstarve::emulated
