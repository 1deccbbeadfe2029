#include "report/roofline/roofline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/roofline/position_words.h"
#include "report/roofline/roofline_axes.h"

namespace unstarve::report {

namespace {

constexpr int kRows = 11;
constexpr int kLabelColumns = 11;
constexpr int kMostColumns = 64;
constexpr std::size_t kMostRoofs = 3;
constexpr char kJob = 'O';

int row_of(const RooflineAxes& axes, double flop_per_s) {
  return static_cast<int>(std::lround((1 - axes.y(flop_per_s)) * (kRows - 1)));
}

/// The plot's rows, from the top.
std::vector<std::string> drawn(const RooflineAxes& axes, const roofline::Position& position,
                               int columns) {
  std::vector<std::string> rows(kRows, std::string(static_cast<std::size_t>(columns), ' '));
  const double decades = std::log10(axes.high_x / axes.low_x);
  for (int column = 0; column < columns; ++column) {
    const double at = axes.low_x * std::pow(10, decades * column / (columns - 1));
    const double slope = at * axes.bytes_per_s;
    for (const Plateau& plateau : axes.plateaus) {
      if (slope < axes.low_y) continue;
      const bool flat = slope >= plateau.roof.value;
      const int row = row_of(axes, std::min(slope, plateau.roof.value));
      rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = flat ? '-' : '/';
    }
  }
  if (position.flop_per_s && position.flop_per_byte) {
    const auto column = std::lround(axes.x(*position.flop_per_byte) * (columns - 1));
    const int row = row_of(axes, *position.flop_per_s);
    rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = kJob;
  }
  return rows;
}

std::string plot(const RooflineAxes& axes, const roofline::Position& position, int columns) {
  const std::vector<std::string> rows = drawn(axes, position, columns);
  std::vector<std::string> labels(rows.size());
  labels.front() = rate_text(axes.high_y, "flop/s");
  labels.back() = rate_text(axes.low_y, "flop/s");
  for (const Plateau& plateau : axes.plateaus) {
    labels[static_cast<std::size_t>(row_of(axes, plateau.roof.value))] = plateau.dtype;
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += pad_left(labels[i], kLabelColumns) + " |" + rows[i] + "\n";
  }
  const std::string low = fmt::format("{:g}", axes.low_x);
  const std::string high = fmt::format("{:g} FLOP a byte", axes.high_x);
  text += std::string(kLabelColumns + 1, ' ') + "+" + repeat("-", columns) + "\n";
  return text + std::string(kLabelColumns + 2, ' ') + low +
         pad_left(high, columns - display_width(low)) + "\n";
}

}  // namespace

std::string roofline_text(const roofline::Position& position, const TextOptions& options) {
  const auto line = [&options](const std::string& text) {
    return clip(printable(text, options), options.width, options) + "\n";
  };
  const RooflineAxes axes = roofline_axes(position, kMostRoofs);
  const roofline::Device& device = position.device;
  const std::string unknown = device.is_cpu ? "the CPU" : "the GPU";
  std::string text = line(fmt::format("Roofline of {}{}, both axes logarithmic",
                                      device.name.empty() ? unknown : device.name,
                                      device.modelled ? " (modelled)" : ""));
  if (axes.plateaus.empty()) {
    return text +
           line(device.is_cpu
                    ? "  not measured: `unstarve roofline` measures its memory and products"
                    : "  neither measured nor in a data sheet: `unstarve roofline` measures it");
  }
  const int columns = std::min(options.width - kLabelColumns - 2, kMostColumns);
  text += plot(axes, position, columns);
  for (const Plateau& plateau : axes.plateaus) {
    text += line(fmt::format("  - {}: {}, from {:.3g} FLOP a byte on", plateau.dtype,
                             roof_text(plateau.roof), plateau.ridge));
  }
  text += line("  / memory: " + roof_text(*position.roofs.any_memory()));
  text += line(fmt::format("  {} {}", kJob, point_words(position)));
  return text + line("  " + bound_sentence(position));
}

}  // namespace unstarve::report
