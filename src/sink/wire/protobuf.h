#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace unstarve::sink {

/// A message of Protocol Buffers as bytes. Fields are written by their numbers, in any order.
/// https://protobuf.dev/programming-guides/encoding/
///
///   Message event;
///   event.fixed64(1, 12.5).varint(2, step).bytes(5, summary.text());
class Message {
 public:
  Message& varint(int field, std::uint64_t value) {
    tag(field, 0);
    number(value);
    return *this;
  }
  Message& fixed64(int field, double value) {
    tag(field, 1);
    append(&value, sizeof value);
    return *this;
  }
  Message& fixed32(int field, float value) {
    tag(field, 5);
    append(&value, sizeof value);
    return *this;
  }
  /// A text, bytes, or the text() of a message.
  Message& bytes(int field, std::string_view value) {
    tag(field, 2);
    number(value.size());
    text_ += value;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void tag(int field, std::uint64_t wire_type) {
    number(static_cast<std::uint64_t>(field) << 3U | wire_type);
  }
  void number(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7U) {
      text_ += static_cast<char>(static_cast<unsigned char>(value | kMore));
    }
    text_ += static_cast<char>(value);
  }
  /// Little-endian, as this machine is.
  void append(const void* bytes, std::size_t size) {
    text_.append(static_cast<const char*>(bytes), size);
  }

  std::string text_;
};

}  // namespace unstarve::sink
