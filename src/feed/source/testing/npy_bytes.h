#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace unstarve::feed::test {

/// An array's file as NumPy writes it.
inline std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view values,
                             std::string_view order = "False") {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header.append((64 - (header.size() + 11) % 64) % 64, ' ').append("\n");
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(header.size() & 255));
  file.push_back(static_cast<char>(header.size() >> 8));
  return file.append(header).append(values);
}

}  // namespace unstarve::feed::test
