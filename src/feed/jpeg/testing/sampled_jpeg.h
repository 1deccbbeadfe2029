#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "feed/data/geometry.h"

namespace unstarve::feed::test {

/// Sampling factors of the components; the second pair is that of both chroma components.
/// components == 1 is a grey image.
struct Sampling {
  int components = 3;
  int luma[2] = {1, 1};
  int chroma[2] = {1, 1};
};

/// Grey, the usual ones, and some that only odd encoders make.
inline constexpr std::array<Sampling, 11> kSamplings = {{{1, {1, 1}, {1, 1}},
                                                         {1, {2, 2}, {1, 1}},
                                                         {3, {1, 1}, {1, 1}},
                                                         {3, {2, 1}, {1, 1}},
                                                         {3, {2, 2}, {1, 1}},
                                                         {3, {1, 2}, {1, 1}},
                                                         {3, {4, 1}, {1, 1}},
                                                         {3, {4, 2}, {1, 1}},
                                                         {3, {2, 2}, {1, 2}},
                                                         {3, {1, 1}, {2, 2}},
                                                         {3, {3, 1}, {1, 1}}}};
/// More blocks in an MCU than one scan may have: such a file has a scan for each component.
inline constexpr std::array<Sampling, 2> kSeparateSamplings = {
    {{3, {2, 2}, {2, 2}}, {3, {4, 4}, {4, 4}}}};
inline constexpr std::array<ImageSize, 9> kSizes = {
    {{1, 1}, {8, 8}, {9, 1}, {1, 9}, {63, 17}, {64, 64}, {65, 33}, {129, 31}, {200, 150}}};

struct JpegRecipe {
  Sampling sampling = {3, {2, 2}, {1, 1}};
  ImageSize size = {100, 60};
  int quality = 90;
  int restart_interval = 0;  // MCUs
  bool progressive = false;
  bool rgb = false;  // components are R, G, B, marked so by Adobe's marker
};

std::string describe(const JpegRecipe& recipe);
/// A JPEG of noise and gradients; the same bytes for the same recipe.
std::vector<std::byte> make_sampled_jpeg(const JpegRecipe& recipe);
/// Overwrites the sample precision in the frame header.
void patch_precision(std::vector<std::byte>& jpeg, int bits);
/// Cuts the last scan off a progressive file.
void drop_last_scan(std::vector<std::byte>& jpeg);

/// The payload, which must be possible.
std::vector<std::byte> encode(const std::vector<std::byte>& jpeg);
/// Every coefficient of the blocks that hold samples: component by component, row by row.
std::vector<std::int16_t> coefficients_of_jpeg(const std::vector<std::byte>& jpeg);
std::vector<std::int16_t> coefficients_of_payload(const std::vector<std::byte>& payload);
/// What a full decode by libjpeg gives, in the file's own number of channels.
std::vector<std::uint8_t> pixels_of_jpeg(const std::vector<std::byte>& jpeg);
/// The same as RGB.
std::vector<std::uint8_t> rgb_of_jpeg(const std::vector<std::byte>& jpeg, const JpegRecipe& recipe);
/// A region of the image, often at its edges.
Box random_box(ImageSize size, std::mt19937& random);

}  // namespace unstarve::feed::test
