#include "demo/demo_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/io/write.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/libjpeg/jpeg_encoder.h"
#include "feed/pack/run_parallel.h"
#include "feed/pack/usable_cpus.h"
#include "feed/source/read_file.h"
#include "feed/transform/random.h"
#include "feed/transform/resize_sink.h"

namespace unstarve::demo {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 2012;
constexpr std::int64_t kMostPhotoBytes = 16 << 20;
constexpr std::size_t kChannels = 3;
// Most of ImageNet's files are what a photo site showed: 500 pixels along the longer side.
constexpr int kUsualLongSide = 500;
constexpr double kUsualLongSideShare = 0.7;
constexpr int kShortestLongSide = 330;
constexpr int kLongestLongSide = 640;
constexpr double kPortraitShare = 0.2;
constexpr std::array<double, 10> kAspects = {4. / 3, 4. / 3, 4. / 3, 4. / 3, 4. / 3,
                                             4. / 3, 1.5,    1.5,    1.0,    1.0};
constexpr std::array<int, 8> kQualities = {75, 88, 90, 93, 95, 95, 96, 96};
// A crop's sides, as a share of the largest that has its aspect.
constexpr double kSmallestCrop = 0.67;
// Either way from a pixel's brightness. It makes up for the detail that enlarging takes.
constexpr double kLeastGrain = 14;
constexpr double kMostGrain = 26;

/// What becomes of a photograph.
struct Picture {
  feed::SampleGeometry geometry;
  int quality = 0;
  int grain = 0;
};

Picture draw_picture(feed::ImageSize photo, feed::SampleRandom& random) {
  const auto one_of = [&random](const auto& values) {
    return values[random.below(static_cast<std::uint32_t>(values.size()))];
  };
  const double long_over_short = one_of(kAspects);
  const double aspect = random.uniform() < kPortraitShare ? 1 / long_over_short : long_over_short;
  const int long_side = random.uniform() < kUsualLongSideShare
                            ? kUsualLongSide
                            : static_cast<int>(random.uniform(kShortestLongSide, kLongestLongSide));
  const auto other = static_cast<int>(std::lround(long_side / long_over_short));
  Picture picture;
  feed::SampleGeometry& geometry = picture.geometry;
  geometry.target =
      aspect >= 1 ? feed::ImageSize{long_side, other} : feed::ImageSize{other, long_side};
  geometry.window = {0, 0, geometry.target.width, geometry.target.height};
  const double share = random.uniform(kSmallestCrop, 1);
  const double width = share * std::min<double>(photo.width, photo.height * aspect);
  geometry.crop.width = std::clamp(static_cast<int>(width), 1, photo.width);
  geometry.crop.height = std::clamp(static_cast<int>(width / aspect), 1, photo.height);
  const auto place = [&random](int spare) {
    return static_cast<int>(random.below(static_cast<std::uint32_t>(spare) + 1));
  };
  geometry.crop.x = place(photo.width - geometry.crop.width);
  geometry.crop.y = place(photo.height - geometry.crop.height);
  geometry.flip = random.uniform() < 0.5;
  picture.quality = one_of(kQualities);
  picture.grain = static_cast<int>(random.uniform(kLeastGrain, kMostGrain));
  return picture;
}

/// Grain of a film: each pixel a little lighter or darker, in all its colours alike.
void add_grain(std::span<std::uint8_t> pixels, int grain, std::uint32_t state) {
  const auto range = static_cast<std::uint32_t>(2 * grain + 1);
  for (std::size_t at = 0; at + kChannels <= pixels.size(); at += kChannels) {
    state = state * 1664525U + 1013904223U;
    const int change = static_cast<int>(((state >> 16U) * range) >> 16U) - grain;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      std::uint8_t& value = pixels[at + channel];
      value = static_cast<std::uint8_t>(std::clamp(int{value} + change, 0, 255));
    }
  }
}

/// Makes one image after another; each thread has its own.
class ImageMaker {
 public:
  static Result<ImageMaker> create(io::Files& files, const Clock& clock) {
    auto decoder = feed::JpegDecoder::create({});
    if (!decoder) return forward_error(decoder);
    return ImageMaker(files, clock, std::move(*decoder));
  }

  /// How many bytes the file has.
  Result<std::uint64_t> make(const std::string& photo, std::uint32_t number,
                             const std::string& path) {
    const auto bytes = feed::read_file(*files_, photo, kMostPhotoBytes, read_);
    if (!bytes) return unreadable(photo, bytes.error());
    const auto size = decoder_.open(*bytes);
    if (!size) return unreadable(photo, size.error());
    feed::SampleRandom random({.seed = kSeed, .index = number});
    const Picture picture = draw_picture(*size, random);
    const feed::ImageSize target = picture.geometry.target;
    pixels_.resize(kChannels * static_cast<std::size_t>(target.width) *
                   static_cast<std::size_t>(target.height));
    const feed::Box region = resize_->begin(picture.geometry, pixels_.data());
    if (Status status = decoder_.decode(region, *resize_); !status) {
      return unreadable(photo, status.error());
    }
    add_grain(pixels_, picture.grain, number);
    if (Status status = feed::encode_jpeg(pixels_, target, picture.quality, jpeg_); !status) {
      return forward_error(status);
    }
    if (Status status = io::replace_file(*files_, path, jpeg_); !status) {
      return forward_error(status);
    }
    return jpeg_.size();
  }

 private:
  ImageMaker(io::Files& files, const Clock& clock, feed::JpegDecoder decoder)
      : files_(&files),
        decoder_(std::move(decoder)),
        resize_(std::make_unique<feed::ResizeSink>(clock)) {}

  static tl::unexpected<Error> unreadable(const std::string& photo, const Error& error) {
    return fail_again(error, fmt::format("cannot read the photograph {}", photo));
  }

  io::Files* files_;
  feed::JpegDecoder decoder_;
  std::unique_ptr<feed::ResizeSink> resize_;
  std::vector<std::byte> read_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::byte> jpeg_;
};

/// "chelsea_0041.jpg" of "photos/chelsea_03.jpg".
std::string image_name(const std::string& photo, int number) {
  const std::string stem = fs::path(photo).stem().string();
  return fmt::format("{}_{:04d}.jpg", stem.substr(0, stem.find('_')), number);
}

}  // namespace

Result<DemoImages> make_demo_images(const std::vector<std::string>& photos,
                                    const std::string& folder, int count,
                                    const ImageProgress& progress) {
  if (photos.empty()) return fail(ErrorCode::kInvalidArgument, "no photographs to make images of");
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return fail_errno(failed.value(), fmt::format("cannot make the folder {}", folder));
  const auto threads = feed::thread_count(0);
  if (!threads) return forward_error(threads);
  const SteadyClock clock;
  io::Files files;
  DemoImages images;
  for (int i = 0; i < count; ++i) {
    const std::string& photo = photos[static_cast<std::size_t>(i) % photos.size()];
    images.files.push_back((fs::path(folder) / image_name(photo, i)).string());
  }
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> done = 0;
  const std::int64_t from_ns = clock.now_ns();
  const auto make_work = [&]() -> feed::WorkOnItem {
    auto maker = std::make_shared<Result<ImageMaker>>(ImageMaker::create(files, clock));
    return [&, maker](const feed::WorkItem& item) -> Status {
      if (!*maker) return forward_error(*maker);
      const auto made =
          (*maker)->make(photos[item.index % photos.size()], static_cast<std::uint32_t>(item.index),
                         images.files[item.index]);
      if (!made) return forward_error(made);
      bytes += *made;
      const std::uint64_t now = ++done;
      if (progress && item.on_calling_thread) progress(now, images.files.size());
      return {};
    };
  };
  const Status made = feed::run_parallel(images.files.size(), *threads, make_work);
  if (!made) return forward_error(made);
  images.bytes = bytes;
  images.seconds = 1e-9 * static_cast<double>(clock.now_ns() - from_ns);
  return images;
}

}  // namespace unstarve::demo
