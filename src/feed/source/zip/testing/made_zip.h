#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::feed::test {

struct ZipFile {
  std::string name;
  std::string content;
  bool deflated = false;
  std::uint16_t flags = 0;
};

template <class Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(number); ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
  }
}

inline std::string deflated(const std::string& content) {
  z_stream stream = {};
  ::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

/// An archive with these files. `comment` stands at its end.
inline std::string made_zip(const std::vector<ZipFile>& files, std::string_view comment = {}) {
  std::string bytes;
  std::string directory;
  for (const ZipFile& file : files) {
    const std::string stored = file.deflated ? deflated(file.content) : file.content;
    const auto crc =
        static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(file.content.data()),
                                           static_cast<uInt>(file.content.size())));
    const auto at = static_cast<std::uint32_t>(bytes.size());
    const auto describe = [&](std::string& to) {
      put(to, std::uint16_t{20});
      put(to, file.flags);
      put(to, static_cast<std::uint16_t>(file.deflated ? 8 : 0));
      put(to, std::uint32_t{0});  // when
      put(to, crc);
      put(to, static_cast<std::uint32_t>(stored.size()));
      put(to, static_cast<std::uint32_t>(file.content.size()));
      put(to, static_cast<std::uint16_t>(file.name.size()));
    };
    put(bytes, std::uint32_t{0x04034B50});
    describe(bytes);
    put(bytes, std::uint16_t{3});  // an extra field that the directory does not have
    bytes += file.name + "xyz" + stored;
    put(directory, std::uint32_t{0x02014B50});
    put(directory, std::uint16_t{20});
    describe(directory);
    for (int i = 0; i < 4; ++i) put(directory, std::uint16_t{0});  // extra, comment, disk, text
    put(directory, std::uint32_t{0});
    put(directory, at);
    directory += file.name;
  }
  const auto directory_at = static_cast<std::uint32_t>(bytes.size());
  bytes += directory;
  put(bytes, std::uint32_t{0x06054B50});
  put(bytes, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) put(bytes, static_cast<std::uint16_t>(files.size()));
  put(bytes, static_cast<std::uint32_t>(directory.size()));
  put(bytes, directory_at);
  put(bytes, static_cast<std::uint16_t>(comment.size()));
  return bytes.append(comment);
}

}  // namespace unstarve::feed::test
