#pragma once

#include <cstddef>
#include <cstring>

#include "emulated/cublaslt/cublaslt_abi.h"

/// Attributes of descriptors: bytes that a program writes and reads back.
namespace unstarve::emulated::cublaslt {

/// Takes a value of exactly this size.
template <class Value>
Status take(Value* value, const void* bytes, std::size_t size) {
  if (bytes == nullptr || size != sizeof(Value)) return Status::kInvalidValue;
  std::memcpy(value, bytes, size);
  return Status::kSuccess;
}

/// Gives the value, or with a size of zero the size that it has.
template <class Value>
Status give(const Value& value, void* bytes, std::size_t size, std::size_t* written) {
  if (size == 0 && written == nullptr) return Status::kInvalidValue;
  if (written != nullptr) *written = sizeof(Value);
  if (size == 0) return Status::kSuccess;
  if (bytes == nullptr || size != sizeof(Value)) return Status::kInvalidValue;
  std::memcpy(bytes, &value, size);
  return Status::kSuccess;
}

}  // namespace unstarve::emulated::cublaslt
