#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "observe/import/byte_source.h"

namespace unstarve::observe {

/// The part of a long JSON text that is being looked at: a buffer that slides over a ByteSource and
/// grows only when a single value does not fit. The first error stays, and reads as the end.
/// Behind the unread bytes lie at least kPadding readable ones, as simdjson and the scanner need.
class JsonWindow {
 public:
  static constexpr std::size_t kPadding = 64;
  static constexpr int kEnd = -1;

  JsonWindow(ByteSource& source, std::size_t window_bytes, std::size_t max_bytes);

  /// What has been read and not been consumed.
  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// The next byte, 0..255, or kEnd.
  int peek() {
    if (begin_ == end_ && !read_more()) return kEnd;
    return static_cast<unsigned char>(buffer_[begin_]);
  }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Reads on, keeping what is unread (it moves); false at the end or on an error.
  bool read_more();
  /// Position of the next byte from the start of the JSON text.
  std::uint64_t offset() const { return dropped_ + begin_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  bool make_room();

  ByteSource& source_;
  std::size_t capacity_;
  std::size_t max_bytes_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t dropped_ = 0;  // bytes that lay before the buffer's start
  std::optional<Error> error_;
};

}  // namespace unstarve::observe
