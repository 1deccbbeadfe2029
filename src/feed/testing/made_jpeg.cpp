#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "feed/testing/made_jpeg.h"

namespace unstarve::feed::test {
namespace {

/// Noise on top of gradients: edges in every block, and colours that differ from pixel to pixel.
std::vector<unsigned char> draw_pixels(int width, int height, int channels, unsigned seed) {
  std::vector<unsigned char> pixels;
  unsigned state = seed * 2654435761U + 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int channel = 0; channel < channels; ++channel) {
        state = state * 1664525 + 1013904223;
        const int shade = (x * (channel + 1) + y * (3 - channel) * 2) % 200;
        pixels.push_back(static_cast<unsigned char>(shade + static_cast<int>(state >> 27)));
      }
    }
  }
  return pixels;
}

void set_sampling(jpeg_compress_struct& codec, JpegKind kind) {
  if (kind != JpegKind::k444 && kind != JpegKind::k422) return;  // 4:2:0 is libjpeg's default
  codec.comp_info[0].h_samp_factor = kind == JpegKind::k422 ? 2 : 1;
  codec.comp_info[0].v_samp_factor = 1;
}

}  // namespace

std::vector<std::byte> make_jpeg(JpegKind kind, int width, int height, unsigned seed) {
  const int channels = kind == JpegKind::kGrey ? 1 : kind == JpegKind::kCmyk ? 4 : 3;
  std::vector<unsigned char> pixels = draw_pixels(width, height, channels, seed);
  jpeg_compress_struct codec = {};
  jpeg_error_mgr errors = {};
  codec.err = jpeg_std_error(&errors);  // ends the test program: the arguments are ours
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = channels;
  codec.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&codec);
  if (kind == JpegKind::kCmyk) jpeg_set_colorspace(&codec, JCS_YCCK);
  set_sampling(codec, kind);
  if (kind == JpegKind::kProgressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  for (int y = 0; y < height; ++y) {
    JSAMPROW row = pixels.data() + std::ptrdiff_t{y} * width * channels;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> result(first, first + size);
  std::free(bytes);
  return result;
}

void remove_segments(std::vector<std::byte>& jpeg, int marker) {
  for (std::size_t at = 2; at + 4 <= jpeg.size();) {
    const int found = std::to_integer<int>(jpeg[at + 1]);
    const std::size_t length = 2 + (std::to_integer<std::size_t>(jpeg[at + 2]) << 8U) +
                               std::to_integer<std::size_t>(jpeg[at + 3]);
    if (found == 0xDA || length > jpeg.size() - at) return;
    if (found == marker) {
      const auto first = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
      jpeg.erase(first, first + static_cast<std::ptrdiff_t>(length));
    } else {
      at += length;
    }
  }
}

void patch_size(std::vector<std::byte>& jpeg, int width, int height) {
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    const auto marker = std::to_integer<int>(jpeg[i + 1]);
    if (jpeg[i] != std::byte{0xFF} || marker < 0xC0 || marker > 0xC2) continue;
    jpeg[i + 5] = static_cast<std::byte>(height >> 8);
    jpeg[i + 6] = static_cast<std::byte>(height & 0xFF);
    jpeg[i + 7] = static_cast<std::byte>(width >> 8);
    jpeg[i + 8] = static_cast<std::byte>(width & 0xFF);
    return;
  }
}

}  // namespace unstarve::feed::test
