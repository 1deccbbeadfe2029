#include "report/text/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace unstarve::report {
namespace {

constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAscii = {"_", "_", ".", ":", "-", "=", "+", "*", "#"};
constexpr int kLevels = 8;  // per line

/// Eighths of a line that a column fills, over all lines. A zero keeps one eighth, so that an idle
/// GPU is seen as idle and not as a gap in the recording.
int filled_eighths(double value, int rows) {
  const double ratio = std::clamp(value, 0.0, 1.0);
  return std::max(1, static_cast<int>(std::lround(ratio * kLevels * rows)));
}

}  // namespace

std::vector<std::string> render_curve(std::span<const double> values, int rows,
                                      const TextOptions& options) {
  rows = options.unicode ? std::max(rows, 1) : 1;
  const auto& glyphs = options.unicode ? kBlocks : kAscii;
  std::vector<std::string> lines(static_cast<std::size_t>(rows));
  for (const double value : values) {
    const int filled = std::isfinite(value) ? filled_eighths(value, rows) : 0;
    for (int row = 0; row < rows; ++row) {
      const int below = (rows - 1 - row) * kLevels;
      const int level = std::clamp(filled - below, 0, kLevels);
      std::string_view glyph = filled == 0 ? " " : glyphs[static_cast<std::size_t>(level)];
      lines[static_cast<std::size_t>(row)].append(glyph);
    }
  }
  return lines;
}

}  // namespace unstarve::report
