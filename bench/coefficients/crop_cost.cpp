// Proves that crops of coefficient payloads have the pixels that libjpeg-turbo gives, and prints
// what they cost, stage by stage, for every instruction set that this CPU has.
//
//   crop_cost FOLDER_OF_JPEGS [ROUNDS]
//
// One crop per image, drawn as RandomResizedCrop draws it, resized to 224x224. Stages are measured
// one on top of the other, in turns; medians over ROUNDS of the thread's CPU time.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"
#include "kernels/strip_resizer.h"

namespace {

using namespace unstarve;
using feed::Box;
using feed::ImageSize;

constexpr int kTarget = 224;
constexpr std::int64_t kMaxPixels = 1'000'000'000;

class MemoryPayload final : public feed::PayloadBytes {
 public:
  explicit MemoryPayload(std::span<const std::byte> payload) : payload_(payload) {}
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                          std::vector<std::byte>& buffer) override {
    if (offset + size > payload_.size()) return fail(ErrorCode::kCorruptData, "past the end");
    // Copied, as it is where a shard is read and not mapped.
    if (buffer.size() < size) buffer.resize(size);
    std::memcpy(buffer.data(), payload_.data() + offset, size);
    return std::span<const std::byte>(buffer).first(size);
  }

 private:
  std::span<const std::byte> payload_;
};

struct Image {
  std::vector<std::byte> jpeg;
  std::vector<std::byte> payload;
  std::size_t head_size = 0;
  ImageSize size;
  Box crop;
};

class NoSink final : public feed::RowSink {
 public:
  void rows(const std::uint8_t*, std::ptrdiff_t, int) override {}
};

class CollectSink final : public feed::RowSink {
 public:
  explicit CollectSink(int width) : row_bytes_(std::ptrdiff_t{width} * 3) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row, first += stride) {
      pixels.insert(pixels.end(), first, first + row_bytes_);
    }
  }
  std::vector<std::uint8_t> pixels;

 private:
  std::ptrdiff_t row_bytes_;
};

class ResizeTo224 final : public feed::RowSink {
 public:
  void begin(const Box& crop) {
    resizer_.begin({crop.width, kTarget, 0, kTarget, false},
                   {crop.height, kTarget, 0, kTarget, false});
    resizer_.set_output(out_.data(), kTarget * 3);
  }
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    resizer_.rows(first, stride, count);
  }

 private:
  kernels::StripResizer resizer_;
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(std::size_t{kTarget} * kTarget * 3);
};

Box draw_crop(ImageSize size, std::mt19937& random) {
  std::uniform_real_distribution<double> scale(0.08, 1);
  std::uniform_real_distribution<double> log_ratio(std::log(3.0 / 4), std::log(4.0 / 3));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = scale(random) * size.width * size.height;
    const double ratio = std::exp(log_ratio(random));
    const int width = static_cast<int>(std::lround(std::sqrt(area * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(area / ratio)));
    if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
    const auto place = [&](int room) {
      return std::uniform_int_distribution<int>(0, room)(random);
    };
    const int x = place(size.width - width);
    return {x, place(size.height - height), width, height};
  }
  return {0, 0, size.width, size.height};
}

std::vector<Image> load(const char* folder) {
  std::vector<Image> images;
  std::mt19937 random(1);
  auto encoder = feed::CoefficientEncoder::create({});
  if (!encoder) return images;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::size_t jpeg_bytes = 0;
  std::size_t payload_bytes = 0;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    Image image;
    image.jpeg.resize(text.size());
    std::memcpy(image.jpeg.data(), text.data(), text.size());
    if (!encoder->encode(image.jpeg, image.payload)) continue;  // stays a file in a shard
    feed::PayloadHead head;
    if (!feed::parse_head(image.payload, head)) continue;
    image.head_size = *feed::head_size(image.payload);
    image.size = head.size;
    image.crop = draw_crop(head.size, random);
    jpeg_bytes += image.jpeg.size();
    payload_bytes += image.payload.size();
    images.push_back(std::move(image));
  }
  fmt::print("{} of {} files as coefficients, {:+.1f} % bytes\n", images.size(), paths.size(),
             100.0 * static_cast<double>(payload_bytes) / static_cast<double>(jpeg_bytes) - 100);
  return images;
}

std::span<const std::byte> head_of(const Image& image) {
  return std::span(image.payload).first(image.head_size);
}

/// What one thread of a loader keeps from image to image.
struct Worker {
  feed::CoefficientDecoder decoder{kMaxPixels};
  feed::JpegDecoder jpeg_decoder = *feed::JpegDecoder::create({});
  feed::PayloadHead head;
  feed::RegionPlan plan;
  feed::SamplePlanes planes;
  std::vector<std::byte> buffer;
  NoSink nothing;
  ResizeTo224 resize;
};

enum class Stage { kRead, kUnpack, kTransform, kRgb, kResized, kResizeOnly, kJpegResized };
constexpr std::array<const char*, 7> kStageNames = {
    "read + check", "+ unpack",           "+ inverse DCT",       "+ RGB",
    "+ resize",     "(tables of resize)", "(JPEG crop + resize)"};

/// The decoder's own steps, up to `last`. Returns false on an error.
bool run_steps(Worker& worker, const Image& image, Stage last) {
  MemoryPayload payload(image.payload);
  feed::PayloadHead& head = worker.head;
  feed::RegionPlan& plan = worker.plan;
  if (!feed::parse_head(head_of(image), head) || !feed::plan_region(head, image.crop, plan))
    return false;
  const int count = plan.end_row - plan.first_row;
  const feed::PayloadRange range = feed::rows_range(head, plan.first_row, count);
  const auto bytes = payload.read(range.offset, range.size, worker.buffer);
  if (!bytes || !feed::check_rows(head, plan.first_row, count, *bytes)) return false;
  if (last == Stage::kRead) return true;
  worker.planes.begin(head, plan);
  for (int row = plan.first_row; row < plan.end_row; ++row) {
    const auto targets = worker.planes.targets();
    const feed::SegmentRange segments = {row, plan.first_segment,
                                         plan.end_segment - plan.first_segment};
    if (!feed::unpack_segments(head, segments, feed::row_of(head, plan.first_row, row, *bytes),
                               std::span(targets).first(plan.component_count))) {
      return false;
    }
    if (last == Stage::kTransform) worker.planes.transform(row);
  }
  return true;
}

bool run_stage(Worker& worker, const Image& image, Stage stage) {
  if (stage == Stage::kJpegResized) {
    worker.resize.begin(image.crop);
    return worker.jpeg_decoder.open(image.jpeg).has_value() &&
           worker.jpeg_decoder.decode(image.crop, worker.resize).has_value();
  }
  if (stage == Stage::kResizeOnly) {
    worker.resize.begin(image.crop);
    return true;
  }
  if (stage != Stage::kRgb && stage != Stage::kResized) return run_steps(worker, image, stage);
  MemoryPayload payload(image.payload);
  if (!worker.decoder.open(head_of(image))) return false;
  if (stage == Stage::kRgb)
    return worker.decoder.decode(image.crop, payload, worker.nothing).has_value();
  worker.resize.begin(image.crop);
  return worker.decoder.decode(image.crop, payload, worker.resize).has_value();
}

double cpu_us() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void force(std::int64_t best_target) {
  hwy::SetSupportedTargetsForTest(0);
  hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(best_target - 1));
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Crops whose pixels differ from libjpeg-turbo's.
int count_different(const std::vector<Image>& images) {
  Worker worker;
  int different = 0;
  for (const Image& image : images) {
    for (const Box& box : {image.crop, Box{0, 0, image.size.width, image.size.height}}) {
      CollectSink ours(box.width);
      CollectSink theirs(box.width);
      MemoryPayload payload(image.payload);
      const bool decoded =
          worker.decoder.open(head_of(image)) && worker.decoder.decode(box, payload, ours) &&
          worker.jpeg_decoder.open(image.jpeg) && worker.jpeg_decoder.decode(box, theirs);
      different += !decoded || ours.pixels != theirs.pixels;
    }
  }
  return different;
}

void measure(const std::vector<Image>& images, const std::vector<std::int64_t>& targets,
             int rounds) {
  std::vector<std::array<std::vector<double>, kStageNames.size()>> times(targets.size());
  Worker worker;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t stage = 0; stage < kStageNames.size(); ++stage) {
      for (std::size_t target = 0; target < targets.size(); ++target) {
        force(targets[target]);
        const double begun = cpu_us();
        for (const Image& image : images) {
          if (!run_stage(worker, image, static_cast<Stage>(stage))) fmt::print("an image failed\n");
        }
        times[target][stage].push_back((cpu_us() - begun) / static_cast<double>(images.size()));
      }
    }
  }
  fmt::print("{:22}", "us per image");
  for (const std::int64_t target : targets) fmt::print("{:>10}", hwy::TargetName(target));
  fmt::print("\n");
  for (std::size_t stage = 0; stage < kStageNames.size(); ++stage) {
    fmt::print("{:22}", kStageNames[stage]);
    for (auto& of_target : times) {
      auto& samples = of_target[stage];
      std::nth_element(samples.begin(), samples.begin() + std::ssize(samples) / 2, samples.end());
      fmt::print("{:10.1f}", samples[samples.size() / 2]);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: crop_cost FOLDER_OF_JPEGS [ROUNDS]\n");
    return 2;
  }
  const std::vector<Image> images = load(argv[1]);
  if (images.empty()) {
    fmt::print(stderr, "crop_cost: {} holds no JPEG that can be kept as coefficients\n", argv[1]);
    return 2;
  }
  std::vector<std::int64_t> targets;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  int failures = 0;
  for (const std::int64_t target : targets) {
    force(target);
    const int different = count_different(images);
    fmt::print("{}: {} of {} crops and whole images differ from libjpeg-turbo's\n",
               hwy::TargetName(target), different, 2 * images.size());
    failures += different;
  }
  std::fflush(stdout);
  measure(images, targets, argc > 2 ? std::atoi(argv[2]) : 7);
  return failures == 0 ? 0 : 1;
}
