#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace unstarve::feed {

/// One change of the pixels within an augmentation.
struct AugmentChange {
  enum class Kind {
    kIdentity,
    kShearX,
    kShearY,
    kTranslateX,  // pixels
    kTranslateY,
    kRotate,  // degrees against the clock, around the centre
    kBrightness,
    kContrast,
    kSaturation,
    kSharpness,
    kPosterize,  // bits
    kSolarize,   // threshold, 0 to 255
    kAutoContrast,
    kEqualize,
    kInvert,
    kSolarizeAdd,  // how much lighter values below 128 become
  };
  Kind kind = Kind::kIdentity;
  double probability = 1.0;
  /// How much: one is drawn evenly. kBrightness to kSharpness have 1 + it as their factor.
  std::vector<double> magnitudes;
  /// The magnitude drawn is negative half of the time.
  bool is_signed = false;
};

/// Rounds of changes, of which one set is drawn evenly in each, as torchvision's RandAugment,
/// TrivialAugmentWide and AutoAugment. A set's changes are made in turn.
struct AugmentPlan {
  std::vector<std::vector<AugmentChange>> sets;
  int rounds = 1;
  /// Of pixels that are moved; kEither is kBilinear or kBicubic, drawn evenly.
  enum class Between { kNearest, kBilinear, kBicubic, kEither };
  Between between = Between::kNearest;
  std::array<std::uint8_t, 3> fill = {};  // where a moved image has no pixels
};

/// RandomAffine: the image is turned around its centre, sheared, enlarged and moved. Each number is
/// drawn evenly.
struct AffinePlan {
  using Range = std::array<double, 2>;  // low, high
  Range degrees = {};
  double across = 0.0;  // most that it is moved, as shares of its sides; in whole pixels
  double down = 0.0;
  Range scale = {1.0, 1.0};
  Range shear_x = {};  // degrees
  Range shear_y = {};
  AugmentPlan::Between between = AugmentPlan::Between::kNearest;  // kEither: there is no such
  std::array<std::uint8_t, 3> fill = {};
};

/// RandomPerspective: each corner is drawn evenly from a rectangle at its place, as whole pixels.
struct PerspectivePlan {
  double distortion = 0.5;  // the rectangles' sides, as shares of half of the image's
  AugmentPlan::Between between = AugmentPlan::Between::kBilinear;  // or kNearest
  std::array<std::uint8_t, 3> fill = {};
  bool of_tensor = false;  // edges and roundings are those of torchvision's tensors, not Pillow's
};

/// GaussianBlur: a standard deviation is drawn evenly.
struct BlurPlan {
  int taps_across = 3;  // odd; half of them fit into the output
  int taps_down = 3;
  double sigma_min = 0.1;  // pixels
  double sigma_max = 2.0;
};

/// ElasticTransform: each pixel's place is moved by even numbers, blurred. Done as torchvision does
/// it on tensors.
struct ElasticPlan {
  std::array<double, 2> alpha = {50.0, 50.0};  // twice the most that it is moved across and down
  std::array<double, 2> sigma = {5.0, 5.0};    // pixels; both 0: no blur
  AugmentPlan::Between between = AugmentPlan::Between::kBilinear;  // or kNearest
  std::optional<std::array<std::uint8_t, 3>> fill;                 // absent: zeros, blended
};

/// v2's JPEG: the image is encoded with a quality that is drawn evenly, and decoded again.
struct JpegPlan {
  int quality_min = 75;  // libjpeg's, 1 to 100
  int quality_max = 75;
};

/// AugMix: chains of changes, each of the image itself, and the image, mixed by weights that have a
/// Dirichlet distribution. All is done as torchvision does it on tensors.
struct MixPlan {
  std::vector<AugmentChange> changes;  // one is drawn evenly for each link of a chain
  int width = 3;                       // chains
  int depth = 0;                       // links of a chain; 0: 1 to 3, drawn evenly
  double alpha = 1.0;
  AugmentPlan::Between between = AugmentPlan::Between::kBilinear;  // or kNearest
  std::optional<std::array<std::uint8_t, 3>> fill;                 // absent: zeros, blended
};

}  // namespace unstarve::feed
