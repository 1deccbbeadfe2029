#include "trace/text/packed_text.h"

#include <zlib.h>

#include <cstdint>
#include <vector>

namespace unstarve::trace {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kChunkBytes = 16U << 10;
constexpr int kGzip = 16;  // zlib.h: added to the bits of a window, it means gzip only

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const bool is_there = i + j < bytes.size();
      group = group << 8U | (is_there ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool is_there = i + j <= bytes.size();
      text += is_there ? kDigits[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return text;
}

Result<std::vector<unsigned char>> bytes_of(std::string_view base64_text) {
  while (base64_text.ends_with('=')) base64_text.remove_suffix(1);
  std::vector<unsigned char> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : base64_text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) {
      return fail(ErrorCode::kCorruptData, "it is no base64");
    }
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<unsigned char>(bits >> static_cast<unsigned>(count) & 0xFFU));
  }
  return bytes;
}

}  // namespace

Result<std::string> pack_text(std::string_view text) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return fail(ErrorCode::kOutOfMemory, "no memory to compress a text");
  }
  std::string packed(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::vector<unsigned char> input(text.begin(), text.end());
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  (void)::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return base64(packed);
}

Result<std::string> unpack_text(std::string_view packed, std::size_t bytes_most) {
  auto bytes = bytes_of(packed);
  if (!bytes) return forward_error(bytes);
  z_stream stream{};
  if (::inflateInit2(&stream, MAX_WBITS + kGzip) != Z_OK) {
    return fail(ErrorCode::kOutOfMemory, "no memory to decompress a text");
  }
  stream.next_in = bytes->data();
  stream.avail_in = static_cast<uInt>(bytes->size());
  std::string text;
  int code = Z_OK;
  while (code == Z_OK && text.size() <= bytes_most) {
    const std::size_t before = text.size();
    text.resize(before + kChunkBytes);
    stream.next_out = reinterpret_cast<unsigned char*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(kChunkBytes);
    code = ::inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (text.size() > bytes_most) {
    return fail(ErrorCode::kCorruptData, "it holds more than {} bytes", bytes_most);
  }
  if (code != Z_STREAM_END) return fail(ErrorCode::kCorruptData, "its gzip is cut off or damaged");
  return text;
}

}  // namespace unstarve::trace
