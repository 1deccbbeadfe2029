#include <cstring>

#include "kernels/pixels/convert.h"
#include "kernels/pixels/half_float.h"

namespace unstarve::kernels {
namespace {

template <class Value>
using Table = std::array<std::array<Value, 256>, 3>;

/// A pixel has only 256 values per channel: everything is worked out once for each.
template <class Value, class Round>
Table<Value> table_of(const Conversion& conversion, Round round) {
  Table<Value> table;
  for (int channel = 0; channel < 3; ++channel) {
    for (unsigned value = 0; value < 256; ++value) {
      table[static_cast<std::size_t>(channel)][value] =
          round(converted_value(conversion, channel, static_cast<std::uint8_t>(value)));
    }
  }
  return table;
}

template <class Value>
void look_up(const Table<Value>& table, bool planar, const std::uint8_t* pixels, std::size_t count,
             void* out) {
  auto* bytes = static_cast<std::byte*>(out);
  for (std::size_t pixel = 0; pixel < count; ++pixel) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const Value value = table[channel][pixels[3 * pixel + channel]];
      const std::size_t at = planar ? channel * count + pixel : 3 * pixel + channel;
      std::memcpy(bytes + at * sizeof(Value), &value, sizeof(Value));
    }
  }
}

}  // namespace

float converted_value(const Conversion& conversion, int channel, std::uint8_t value) {
  const auto index = static_cast<std::size_t>(channel);
  auto result = static_cast<float>(value);
  if (conversion.scale == ValueScale::kDivide) result = result / 255.0F;
  if (conversion.scale == ValueScale::kMultiply) result = result * static_cast<float>(1.0 / 255);
  if (!conversion.normalise) return result;
  result = result - conversion.mean[index];
  return result / conversion.deviation[index];
}

void convert_pixels_plain(const Conversion& conversion, const std::uint8_t* pixels,
                          std::size_t count, void* out) {
  const bool planar = conversion.planar;
  switch (conversion.type) {
    case ValueType::kUint8: {
      const auto keep = [](float value) { return static_cast<std::uint8_t>(value); };
      const Conversion as_it_is{.type = ValueType::kUint8, .planar = planar};
      return look_up(table_of<std::uint8_t>(as_it_is, keep), planar, pixels, count, out);
    }
    case ValueType::kFloat32: {
      const auto keep = [](float value) { return value; };
      return look_up(table_of<float>(conversion, keep), planar, pixels, count, out);
    }
    case ValueType::kFloat16:
      return look_up(table_of<std::uint16_t>(conversion, to_float16), planar, pixels, count, out);
    case ValueType::kBfloat16:
      return look_up(table_of<std::uint16_t>(conversion, to_bfloat16), planar, pixels, count, out);
  }
}

}  // namespace unstarve::kernels
