#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emulated/duration/work.h"

namespace unstarve::emulated {

/// What a kernel took on a real GPU, by its grid and block.
struct RecordedKernel {
  struct Launch {
    std::array<std::uint32_t, 3> grid = {1, 1, 1};
    std::array<std::uint32_t, 3> block = {1, 1, 1};
    double ns = 0;  // the mean
    std::int64_t count = 0;
  };
  std::string name;  // as a profiler shows it: not mangled
  std::vector<Launch> launches;

  std::optional<double> find(const std::array<std::uint32_t, 3>& grid,
                             const std::array<std::uint32_t, 3>& block) const;
};

struct RecordedMatmul {
  MatmulWork work;
  double ns = 0;
  std::int64_t count = 0;
};

struct RecordedConvolution {
  ConvolutionWork work;
  double ns = 0;
  std::int64_t count = 0;
};

/// Durations as a recording holds them: plain data.
struct Recording {
  std::string source;  // the trace's file
  std::string device;  // its GPU's name
  std::vector<RecordedKernel> kernels;
  std::vector<RecordedMatmul> matmuls;
  std::vector<RecordedConvolution> convolutions;
};

/// The recording as the text of a file, and back (docs/formats/gpu_durations.md). Reading takes any
/// text; an error names the row.
std::string format_recording(const Recording& recording);
Result<Recording> parse_recording(std::string_view text);

/// Durations from a recording, found by what the work is.
/// Thread rule: any thread; nothing changes after create().
class DurationTable {
 public:
  using Key = std::array<std::int64_t, 18>;  // operation, shapes, types

  static std::shared_ptr<const DurationTable> create(Recording recording);
  /// From a file that format_recording() made.
  static Result<std::shared_ptr<const DurationTable>> read(const std::string& path);

  /// nullptr: not recorded. `name` may be mangled.
  const RecordedKernel* find_kernel(std::string_view name) const;
  std::optional<double> find(const MatmulWork& work) const;
  std::optional<double> find(const ConvolutionWork& work) const;
  const Recording& recording() const { return recording_; }

 private:
  explicit DurationTable(Recording recording);

  const Recording recording_;
  std::map<std::string, const RecordedKernel*, std::less<>> kernels_;
  std::map<Key, double> matmuls_;
  std::map<Key, double> convolutions_;
};

}  // namespace unstarve::emulated
