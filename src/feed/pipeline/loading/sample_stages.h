#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/formats/image_format.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/tensor/tensor_image.h"
#include "feed/transform/random.h"
#include "feed/transform/sample_transform.h"

namespace unstarve::feed {

/// What one sample took.
struct SampleCost {
  std::int64_t read_ns = 0;
  std::int64_t decode_ns = 0;
  std::int64_t resize_ns = 0;
  std::int64_t bytes = 0;  // that were read
};

/// The stages that a sample goes through: reads, decodes and transforms samples, one at a time;
/// owns all the memory that this takes and keeps it. Each loading thread has one.
class SampleStages {
 public:
  struct Inputs {
    const LoaderOptions& options;
    SampleSource& source;
    const Clock& clock;
  };
  /// What the inputs refer to must outlive the stages.
  static Result<SampleStages> create(const Inputs& inputs);

  /// Writes sample `key.index` to `out`, image_bytes(options.transform) bytes. The error names
  /// where it lies.
  Status load(const DrawKey& key, std::uint8_t* out, SampleCost& cost);
  /// See SampleReader::hint().
  ReadHint hint(std::uint64_t index);

 private:
  SampleStages(const Inputs& inputs, std::unique_ptr<SampleReader> reader);
  Status decode(const DrawKey& key, const EncodedSample& sample, std::uint8_t* out,
                SampleCost& cost);

  struct Target {
    const DrawKey& key;
    std::uint8_t* out;
    SampleCost& cost;
  };
  Status decode_coefficients(const EncodedSample& sample, const Target& target);
  Status decode_file(const EncodedSample& sample, const Target& target);
  Status decode_with_any(ImageFormat& format, std::span<const std::byte> file,
                         const Target& target);
  Status decode_and_keep(ImageFormat& format, std::span<const std::byte> file,
                         const Target& target);
  void keep_payload();
  template <class Decoder, class Encoded>
  Status decode_with(Decoder& decoder, const Encoded& encoded, const Target& target);

  Inputs inputs_;
  FileFormats formats_;
  CoefficientDecoder coefficients_;
  TensorImage tensor_;
  std::vector<std::byte> payload_;  // for SampleReader::keep()
  std::unique_ptr<SampleTransform> transform_;
  std::unique_ptr<SampleReader> reader_;
};

}  // namespace unstarve::feed
