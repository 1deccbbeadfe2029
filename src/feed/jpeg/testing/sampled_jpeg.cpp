#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>

#include <jpeglib.h>

#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"

namespace unstarve::feed::test {
namespace {

std::vector<unsigned char> draw_pixels(ImageSize size, int channels) {
  std::vector<unsigned char> pixels;
  std::uint32_t state = static_cast<std::uint32_t>(size.width * 7919 + size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (int channel = 0; channel < channels; ++channel) {
        state = state * 1664525U + 1013904223U;
        // Every other patch of 16x16 is noise, for large coefficients and long masks.
        const bool noisy = ((x >> 4) + (y >> 4)) % 2 == 0;
        const int smooth = (x * (channel + 2) + y * 3) % 256;
        pixels.push_back(static_cast<unsigned char>(noisy ? state >> 24 : unsigned(smooth)));
      }
    }
  }
  return pixels;
}

void set_up(jpeg_compress_struct& codec, const JpegRecipe& recipe) {
  const Sampling& sampling = recipe.sampling;
  codec.image_width = static_cast<JDIMENSION>(recipe.size.width);
  codec.image_height = static_cast<JDIMENSION>(recipe.size.height);
  codec.input_components = sampling.components;
  codec.in_color_space = sampling.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  if (recipe.rgb) jpeg_set_colorspace(&codec, JCS_RGB);
  jpeg_set_quality(&codec, recipe.quality, FALSE);
  for (int i = 0; i < sampling.components; ++i) {
    codec.comp_info[i].h_samp_factor = i == 0 ? sampling.luma[0] : sampling.chroma[0];
    codec.comp_info[i].v_samp_factor = i == 0 ? sampling.luma[1] : sampling.chroma[1];
  }
  const int* luma = sampling.luma;
  const int* chroma = sampling.chroma;
  if (luma[0] * luma[1] + 2 * chroma[0] * chroma[1] > C_MAX_BLOCKS_IN_MCU) {
    // Too many for one scan: one for each component.
    static constexpr jpeg_scan_info kScans[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    codec.scan_info = kScans;
    codec.num_scans = 3;
  }
  codec.restart_interval = static_cast<unsigned>(recipe.restart_interval);
  if (recipe.progressive) jpeg_simple_progression(&codec);
}

/// libjpeg's decompressor with its default errors, which end the test program: the files are ours.
struct Decompressor {
  explicit Decompressor(const std::vector<std::byte>& jpeg) {
    codec.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&codec, TRUE);
  }
  ~Decompressor() { jpeg_destroy_decompress(&codec); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  jpeg_decompress_struct codec = {};
  jpeg_error_mgr errors = {};
};

}  // namespace

std::string describe(const JpegRecipe& recipe) {
  const Sampling& s = recipe.sampling;
  return fmt::format("{}x{}, {} components, {}x{} and {}x{}, q{}, restart {}{}{}",
                     recipe.size.width, recipe.size.height, s.components, s.luma[0], s.luma[1],
                     s.chroma[0], s.chroma[1], recipe.quality, recipe.restart_interval,
                     recipe.progressive ? ", progressive" : "", recipe.rgb ? ", RGB" : "");
}

std::vector<std::byte> make_sampled_jpeg(const JpegRecipe& recipe) {
  const int channels = recipe.sampling.components;
  std::vector<unsigned char> pixels = draw_pixels(recipe.size, channels);
  jpeg_compress_struct codec = {};
  jpeg_error_mgr errors = {};
  codec.err = jpeg_std_error(&errors);  // ends the test program: the arguments are ours
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  set_up(codec, recipe);
  jpeg_start_compress(&codec, TRUE);
  constexpr char kComment[] = "a comment to be kept";
  jpeg_write_marker(&codec, JPEG_COM, reinterpret_cast<const JOCTET*>(kComment), sizeof(kComment));
  jpeg_write_marker(&codec, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>("Exif\0"), 5);
  for (int y = 0; y < recipe.size.height; ++y) {
    JSAMPROW row = pixels.data() + std::ptrdiff_t{y} * recipe.size.width * channels;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> result(first, first + size);
  std::free(bytes);
  return result;
}

void patch_precision(std::vector<std::byte>& jpeg, int bits) {
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    const auto marker = std::to_integer<int>(jpeg[i + 1]);
    if (jpeg[i] != std::byte{0xFF} || marker < 0xC0 || marker > 0xC2) continue;
    jpeg[i + 4] = static_cast<std::byte>(bits);
    return;
  }
}

void drop_last_scan(std::vector<std::byte>& jpeg) {
  for (std::size_t i = jpeg.size() - 2; i > 0; --i) {
    if (jpeg[i] != std::byte{0xFF} || jpeg[i + 1] != std::byte{0xDA}) continue;
    jpeg.resize(i + 1);
    jpeg.push_back(std::byte{0xD9});  // the end of the image
    return;
  }
}

std::vector<std::byte> encode(const std::vector<std::byte>& jpeg) {
  CoefficientEncoder encoder = *CoefficientEncoder::create({});
  std::vector<std::byte> payload;
  const Status status = encoder.encode(jpeg, payload);
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  return payload;
}

std::vector<std::int16_t> coefficients_of_jpeg(const std::vector<std::byte>& jpeg) {
  Decompressor reader(jpeg);
  jpeg_decompress_struct& codec = reader.codec;
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&codec);
  std::vector<std::int16_t> result;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& info = codec.comp_info[i];
    for (JDIMENSION row = 0; row < info.height_in_blocks; ++row) {
      JBLOCKARRAY blocks = (*codec.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&codec),
                                                            arrays[i], row, 1, FALSE);
      const JCOEF* first = blocks[0][0];
      result.insert(result.end(), first, first + std::ptrdiff_t{info.width_in_blocks} * DCTSIZE2);
    }
  }
  return result;
}

std::vector<std::int16_t> coefficients_of_payload(const std::vector<std::byte>& payload) {
  PayloadHead head;
  const Status parsed = parse_head(payload, head);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  EXPECT_EQ(payload_size(head), payload.size());
  if (!parsed) return {};
  std::vector<std::vector<std::int16_t>> planes;
  for (int i = 0; i < head.component_count; ++i) {
    const PayloadComponent& component = head.components[std::size_t(i)];
    planes.emplace_back(std::size_t(component.columns) * std::size_t(component.rows) * 64, 7777);
  }
  for (int row = 0; row < head.mcu_rows; ++row) {
    const PayloadRange range = rows_range(head, row, 1);
    const auto bytes = std::span(payload).subspan(range.offset, range.size);
    EXPECT_TRUE(check_rows(head, row, 1, bytes));
    std::array<CoefficientTarget, 3> targets;
    for (int i = 0; i < head.component_count; ++i) {
      const PayloadComponent& component = head.components[std::size_t(i)];
      const std::ptrdiff_t stride = std::ptrdiff_t{component.columns} * 64;
      targets[std::size_t(i)] = {planes[std::size_t(i)].data() + row * component.vertical * stride,
                                 stride};
    }
    EXPECT_TRUE(unpack_segments(head, {row, 0, head.segments_across}, row_of(head, row, row, bytes),
                                targets));
  }
  std::vector<std::int16_t> result;
  for (const auto& plane : planes) result.insert(result.end(), plane.begin(), plane.end());
  return result;
}

std::vector<std::uint8_t> pixels_of_jpeg(const std::vector<std::byte>& jpeg) {
  Decompressor reader(jpeg);
  jpeg_decompress_struct& codec = reader.codec;
  jpeg_start_decompress(&codec);
  const std::size_t row_bytes =
      std::size_t{codec.output_width} * static_cast<std::size_t>(codec.output_components);
  std::vector<std::uint8_t> result(row_bytes * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = result.data() + codec.output_scanline * row_bytes;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  return result;
}

std::vector<std::uint8_t> rgb_of_jpeg(const std::vector<std::byte>& jpeg,
                                      const JpegRecipe& recipe) {
  const std::vector<std::uint8_t> whole = pixels_of_jpeg(jpeg);
  if (recipe.sampling.components == 3) return whole;
  std::vector<std::uint8_t> rgb;
  for (const std::uint8_t grey : whole) rgb.insert(rgb.end(), 3, grey);
  return rgb;
}

Box random_box(ImageSize size, std::mt19937& random) {
  const auto below = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  Box box;
  box.x = below(size.width);
  box.y = below(size.height);
  box.width = 1 + below(size.width - box.x);
  box.height = 1 + below(size.height - box.y);
  if (below(3) == 0) box.width = size.width - box.x;
  if (below(3) == 0) box.height = size.height - box.y;
  return box;
}

}  // namespace unstarve::feed::test
