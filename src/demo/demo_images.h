#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::demo {

/// A folder of JPEGs that are all different.
struct DemoImages {
  std::vector<std::string> files;  // in the order of their numbers
  std::uint64_t bytes = 0;
  double seconds = 0;  // that making them took
};

/// Told from the calling thread how many images are made.
using ImageProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Makes `count` different JPEGs of `photos`, in turn, in `folder`: crops of them, mirrored or not,
/// with the film grain, the sizes and the qualities that ImageNet's files have, so that decoding
/// one costs what decoding one of those does. The same bytes for the same photographs.
/// Errors: a photograph cannot be read, or the folder not be written.
Result<DemoImages> make_demo_images(const std::vector<std::string>& photos,
                                    const std::string& folder, int count,
                                    const ImageProgress& progress = {});

}  // namespace unstarve::demo
