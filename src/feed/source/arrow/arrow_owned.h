#pragma once

#include <utility>

#include "feed/source/arrow/arrow_abi.h"

namespace unstarve::feed {

/// Owns one of Arrow's structs, and releases it.
template <class Struct>
class ArrowOwned {
 public:
  ArrowOwned() = default;
  /// Moves it out of where it lay: whoever has that must not release it any more.
  explicit ArrowOwned(Struct& given) : held_(given) { given.release = nullptr; }
  ArrowOwned(ArrowOwned&& other) noexcept : ArrowOwned(other.held_) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ArrowOwned() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  /// False: there is none, or its producer has released it.
  explicit operator bool() const { return held_.release != nullptr; }
  Struct* get() { return &held_; }
  const Struct* operator->() const { return &held_; }
  const Struct& operator*() const { return held_; }

 private:
  Struct held_ = {};
};

}  // namespace unstarve::feed
