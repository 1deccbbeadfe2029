// usage: coefficient_cost FOLDER [REPEATS]
//
// Packs every JPEG of a folder and prints how many bytes the payloads take against the files, what
// packing costs, and what reading costs for a crop as RandomResizedCrop draws it: head, checksums,
// and unpacking once per instruction set. Times are CPU time of the one thread, the ways taken in
// turn; the smallest and the median of the repeats are shown.
#define HWY_WANT_AVX3_DL  // as the kernels are compiled
#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"

namespace {

using namespace unstarve;

double thread_cpu_s() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

struct Image {
  std::vector<std::byte> file;
  std::vector<std::byte> payload;
  feed::PayloadHead head;
  feed::Box crop;
};

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

/// Area 0.08 to 1 of the image's, ratio 3/4 to 4/3.
feed::Box draw_crop(std::mt19937& random, feed::ImageSize size) {
  std::uniform_real_distribution<double> scale(0.08, 1.0);
  std::uniform_real_distribution<double> log_ratio(std::log(3.0 / 4), std::log(4.0 / 3));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = scale(random) * size.width * size.height;
    const double ratio = std::exp(log_ratio(random));
    const int width = static_cast<int>(std::lround(std::sqrt(area * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(area / ratio)));
    if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
    const auto below = [&](int end) { return static_cast<int>(random() % unsigned(end)); };
    return {below(size.width - width + 1), below(size.height - height + 1), width, height};
  }
  return {0, 0, size.width, size.height};
}

/// Which MCU rows and segments the pixels of a crop lie in.
struct Touched {
  int first_row = 0;
  int rows = 0;
  int first_segment = 0;
  int segments = 0;
};

Touched touched_by(const Image& image) {
  const feed::PayloadHead& head = image.head;
  const feed::Box& crop = image.crop;
  const int first_row = crop.y / head.mcu_height;
  const int first_segment = crop.x / head.segment_width;
  return {first_row, (crop.y + crop.height - 1) / head.mcu_height + 1 - first_row, first_segment,
          (crop.x + crop.width - 1) / head.segment_width + 1 - first_segment};
}

std::span<const std::byte> bytes_of(const Image& image, const Touched& touched) {
  const feed::PayloadRange range = feed::rows_range(image.head, touched.first_row, touched.rows);
  return std::span(image.payload).subspan(static_cast<std::size_t>(range.offset), range.size);
}

void unpack(const Image& image, std::vector<std::int16_t>& buffer) {
  const Touched touched = touched_by(image);
  const auto bytes = bytes_of(image, touched);
  std::array<feed::CoefficientTarget, kernels::kMaxComponents> targets;
  std::int16_t* next = buffer.data();
  for (int i = 0; i < image.head.component_count; ++i) {
    const int columns =
        feed::segment_blocks(image.head, i, touched.first_segment, touched.segments).count;
    targets[std::size_t(i)] = {next, std::ptrdiff_t{columns} * kernels::kBlockCoefficients};
    next += targets[std::size_t(i)].row_stride * 4;
  }
  for (int row = touched.first_row; row < touched.first_row + touched.rows; ++row) {
    const Status status =
        feed::unpack_segments(image.head, {row, touched.first_segment, touched.segments},
                              feed::row_of(image.head, touched.first_row, row, bytes), targets);
    if (!status) std::abort();
  }
}

struct Way {
  std::string name;
  std::function<void()> before;
  std::function<void(const Image&)> prepare;  // not timed
  std::function<void(const Image&)> run;
  std::vector<double> seconds;  // per image, one entry per repeat
};

std::vector<Way> ways(std::vector<std::int16_t>& buffer, feed::PayloadHead& head) {
  const auto nothing = [](const Image&) {};
  const auto check = [](const Image& image) {
    const Touched touched = touched_by(image);
    const auto bytes = bytes_of(image, touched);
    if (!feed::check_rows(image.head, touched.first_row, touched.rows, bytes)) std::abort();
  };
  const auto read_head = [&head](const Image& image) {
    if (!feed::parse_head(image.payload, head)) std::abort();
  };
  std::vector<Way> result;
  result.push_back({"read the head", [] {}, nothing, read_head, {}});
  result.push_back({"check the rows of a crop", [] {}, nothing, check, {}});
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if ((target & HWY_TARGETS) == 0) continue;
    result.push_back({fmt::format("unpack a crop, {}", hwy::TargetName(target)),
                      [target] {
                        hwy::SetSupportedTargetsForTest(target);
                        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
                      },
                      check,  // as a decoder does, which leaves the bytes in the cache
                      [&buffer](const Image& image) { unpack(image, buffer); },
                      {}});
  }
  return result;
}

void print_size(const std::vector<Image>& images, double pack_s) {
  double file_bytes = 0;
  double payload_bytes = 0;
  double sum_of_ratios = 0;
  for (const Image& image : images) {
    file_bytes += double(image.file.size());
    payload_bytes += double(image.payload.size());
    sum_of_ratios += double(image.payload.size()) / double(image.file.size());
  }
  const auto count = static_cast<double>(images.size());
  fmt::print(
      "{} JPEGs, {:.2f} MB; as coefficients {:.2f} MB, {:+.2f} % (mean of files {:+.2f} %)\n",
      images.size(), file_bytes / 1e6, payload_bytes / 1e6, 100 * (payload_bytes / file_bytes - 1),
      100 * (sum_of_ratios / count - 1));
  fmt::print("{:32} {:8.1f} us per image\n", "read the file and pack it", 1e6 * pack_s / count);
}

double blocks_per_crop(const std::vector<Image>& images) {
  double blocks = 0;
  for (const Image& image : images) {
    const Touched touched = touched_by(image);
    for (int i = 0; i < image.head.component_count; ++i) {
      const int columns =
          feed::segment_blocks(image.head, i, touched.first_segment, touched.segments).count;
      for (int row = touched.first_row; row < touched.first_row + touched.rows; ++row) {
        blocks += columns * feed::block_rows(image.head, i, row);
      }
    }
  }
  return blocks / double(images.size());
}

void print_times(std::vector<Way>& all, const std::vector<Image>& images, int repeats) {
  fmt::print("{:32} {:8.0f} blocks in the segments that it touches\n", "a mean crop has",
             blocks_per_crop(images));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Way& way : all) {
      way.before();
      double seconds = 0;
      for (const Image& image : images) {
        way.prepare(image);
        const double start = thread_cpu_s();
        way.run(image);
        seconds += thread_cpu_s() - start;
      }
      way.seconds.push_back(seconds / double(images.size()));
    }
  }
  for (Way& way : all) {
    std::sort(way.seconds.begin(), way.seconds.end());
    fmt::print("{:32} {:8.1f} us per image, median {:.1f}\n", way.name, 1e6 * way.seconds.front(),
               1e6 * way.seconds[way.seconds.size() / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: coefficient_cost FOLDER [REPEATS]\n");
    return 2;
  }
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  feed::CoefficientEncoder encoder = *feed::CoefficientEncoder::create({});
  std::vector<Image> images;
  std::mt19937 random(1);
  double pack_s = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (!entry.is_regular_file()) continue;
    Image image;
    image.file = read_file(entry.path());
    const double start = thread_cpu_s();
    const Status packed = encoder.encode(image.file, image.payload);
    pack_s += thread_cpu_s() - start;
    if (!packed || !feed::parse_head(image.payload, image.head)) {
      fmt::print("left out: {}: {}\n", entry.path().filename().string(),
                 packed ? "" : packed.error().message);
      continue;
    }
    image.crop = draw_crop(random, image.head.size);
    images.push_back(std::move(image));
  }
  if (images.empty()) return 2;
  print_size(images, pack_s);
  // A row of 4 block rows for each of 3 components, 65535 pixels wide.
  std::vector<std::int16_t> buffer(std::size_t{3} * 4 * 8192 * kernels::kBlockCoefficients);
  feed::PayloadHead head;
  std::vector<Way> all = ways(buffer, head);
  print_times(all, images, repeats);
  return 0;
}
