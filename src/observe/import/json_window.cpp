#include "observe/import/json_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace unstarve::observe {

namespace {

constexpr std::size_t kLeastCapacity = 256;

/// Not value-initialised: only the bytes that are used become resident.
std::unique_ptr<char[]> allocate(std::size_t capacity) {
  auto buffer = std::make_unique_for_overwrite<char[]>(capacity + JsonWindow::kPadding);
  std::memset(buffer.get(), 0, JsonWindow::kPadding);
  return buffer;
}

}  // namespace

JsonWindow::JsonWindow(ByteSource& source, std::size_t window_bytes, std::size_t max_bytes)
    : source_(source),
      capacity_(std::max(window_bytes, kLeastCapacity)),
      max_bytes_(std::max(max_bytes, capacity_)),
      buffer_(allocate(capacity_)) {}

bool JsonWindow::read_more() {
  if (error_ || !make_room()) return false;
  bool any = false;
  while (end_ < capacity_) {
    const Result<std::size_t> got = source_.read({buffer_.get() + end_, capacity_ - end_});
    if (!got) {
      error_ = got.error();
      return false;
    }
    if (*got == 0) break;
    any = true;
    end_ += *got;
  }
  std::memset(buffer_.get() + end_, 0, kPadding);
  return any;
}

bool JsonWindow::make_room() {
  const std::size_t unread_bytes = end_ - begin_;
  if (unread_bytes == capacity_) {
    if (capacity_ >= max_bytes_) {
      error_ = Error{ErrorCode::kCorruptData,
                     fmt::format("a single value is longer than {} bytes", max_bytes_), 0};
      return false;
    }
    const std::size_t larger = std::min(capacity_ * 2, max_bytes_);
    auto buffer = allocate(larger);
    std::memcpy(buffer.get(), buffer_.get() + begin_, unread_bytes);
    buffer_ = std::move(buffer);
    capacity_ = larger;
  } else if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, unread_bytes);
  }
  dropped_ += begin_;
  begin_ = 0;
  end_ = unread_bytes;
  return true;
}

}  // namespace unstarve::observe
