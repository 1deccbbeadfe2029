#pragma once

#include <cstddef>
#include <vector>

namespace unstarve::emulated {

/// First in, first out, in memory that is used again and again: a stream's queue allocates only
/// when it becomes longer than ever before.
template <class T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return slots_[first_]; }
  T& operator[](std::size_t index) { return slots_[(first_ + index) & (slots_.size() - 1)]; }
  const T& operator[](std::size_t index) const {
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }

  void push(const T& item) {
    if (size_ == slots_.size()) grow();
    slots_[(first_ + size_) & (slots_.size() - 1)] = item;
    ++size_;
  }

  void pop() {
    slots_[first_] = T{};  // lets go of what it holds
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace unstarve::emulated
