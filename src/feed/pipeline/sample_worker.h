#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/decode/jpeg_decoder.h"
#include "feed/source/file_reader.h"
#include "feed/source/image_folder.h"
#include "feed/transform/random.h"
#include "feed/transform/resize_sink.h"

namespace unstarve::feed {

/// What one sample took.
struct SampleCost {
  std::int64_t read_ns = 0;
  std::int64_t decode_ns = 0;
  std::int64_t resize_ns = 0;
  std::int64_t bytes = 0;  // of the file
};

/// Reads, decodes, crops, resizes and flips samples, one at a time; owns all the memory that this
/// takes and keeps it. Each loading thread has one.
class SampleWorker {
 public:
  struct Parts {
    const LoaderOptions& options;
    const ImageFolder& folder;
    FileReader& reader;
    const Clock& clock;
  };
  /// The parts must outlive the worker.
  static Result<SampleWorker> create(const Parts& parts);

  /// Writes sample `key.index` to `out`, size * size RGB pixels. The error names the file.
  Status load(const DrawKey& key, std::uint8_t* out, SampleCost& cost);

 private:
  SampleWorker(const Parts& parts, JpegDecoder decoder);
  Status decode(const DrawKey& key, std::span<const std::byte> bytes, std::uint8_t* out,
                SampleCost& cost);

  Parts parts_;
  JpegDecoder decoder_;
  std::unique_ptr<ResizeSink> sink_;
  std::vector<std::byte> file_;
};

}  // namespace unstarve::feed
