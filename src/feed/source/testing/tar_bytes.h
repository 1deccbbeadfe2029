#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feed/source/tar_format.h"

namespace unstarve::feed::test {

/// Writes the bytes of a tar.
class TarBytes {
 public:
  TarBytes& add(std::string_view name, std::string_view bytes, char type = '0') {
    std::array<char, kTarBlock> block = {};
    name.substr(0, 100).copy(block.data(), 100);
    const std::string size = fmt::format("{:011o}", bytes.size());
    size.copy(&block[124], 11);
    block[156] = type;
    std::string_view("ustar").copy(&block[257], 5);
    std::fill_n(&block[148], 8, ' ');
    unsigned sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    fmt::format("{:06o}", sum).copy(&block[148], 6);
    block[154] = '\0';
    bytes_.append(block.data(), block.size()).append(bytes);
    bytes_.resize((bytes_.size() + kTarBlock - 1) / kTarBlock * kTarBlock);
    return *this;
  }
  TarBytes& add_pax(std::string_view key, std::string_view value) {
    const std::size_t others = key.size() + value.size() + 3;
    std::size_t length = others + 1;  // the digits count themselves
    while (std::to_string(length).size() + others != length) ++length;
    return add("pax", fmt::format("{} {}={}\n", length, key, value), 'x');
  }
  std::string end() const { return bytes_ + std::string(2 * kTarBlock, '\0'); }
  std::string unended() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace unstarve::feed::test
