#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"
#include "feed/pack/coefficient_check.h"
#include "feed/pack/pack_input.h"
#include "feed/shard/record.h"

namespace unstarve::feed {

/// One file, ready to be appended to a shard. Reuse one object: it keeps its memory.
struct PackedSample {
  ShardSample sample;               // refers to the vectors below and to the input's names
  std::string kept_as_bytes;        // why a file is kept as its bytes; empty for coefficients
  bool cannot_be_decoded = false;   // no loader here decodes it: 12 bits per sample
  std::optional<Error> error;       // the file could not be packed at all
  std::vector<std::byte> original;  // room for the file; its size is the sample's source_size
  std::vector<std::byte> payload;
};

/// Turns files into samples: JPEGs into coefficients, compared with the file again, everything
/// else into its bytes. Thread rule: one thread at a time.
class SamplePacker {
 public:
  struct Options {
    bool keep_original_bytes = false;
  };
  static Result<SamplePacker> create(PackInput& input, const Options& options);

  /// Errors are left in `packed`, and name the file.
  void pack(std::uint64_t index, PackedSample& packed);

 private:
  SamplePacker(PackInput& input, const Options& options, CoefficientEncoder encoder,
               CoefficientCheck check);
  Status pack_file(std::uint64_t index, PackedSample& packed);
  Status encode(std::span<const std::byte> file, PackedSample& packed);

  PackInput* input_;
  Options options_;
  CoefficientEncoder encoder_;
  CoefficientCheck check_;
};

}  // namespace unstarve::feed
