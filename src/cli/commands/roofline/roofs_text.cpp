#include "cli/commands/roofline/roofs_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string_view>
#include <vector>

#include "report/roofline/position_words.h"

namespace unstarve::cli {

namespace {

constexpr double kSaidSpread = 0.05;
constexpr int kStemColumns = 28;
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// The roofs that differ in the last word of their names, as one line shows them.
struct RoofLine {
  std::string stem;  // "memory.copy"
  std::vector<std::string> values;
};

/// "2 threads" of "memory.copy.2_threads".
std::string label_of(const std::string& name) {
  std::string label = name.substr(name.rfind('.') + 1);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label == "1 threads" ? "1 thread" : label;
}

std::vector<RoofLine> lines_of(const std::vector<roofline::Roof>& roofs) {
  std::vector<RoofLine> lines;
  for (const roofline::Roof& roof : roofs) {
    const std::string stem = roof.name.substr(0, roof.name.rfind('.'));
    std::string value =
        fmt::format("{} {}", label_of(roof.name), report::rate_text(roof.value, roof.unit));
    if (roof.spread_ratio > kSaidSpread) {
      value += fmt::format(" (spread {:.0f} %)", 100 * roof.spread_ratio);
    }
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&stem](const RoofLine& each) { return each.stem == stem; });
    if (line == lines.end()) line = lines.insert(line, {stem, {}});
    line->values.push_back(std::move(value));
  }
  return lines;
}

std::string date_of(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return "an unknown time";
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", parts);
}

/// "measured 2026-11-22 22:10 UTC", or from when to when.
std::string when_measured(const std::vector<roofline::Roof>& roofs) {
  if (roofs.empty()) return "nothing is measured";
  const auto [first, last] =
      std::minmax_element(roofs.begin(), roofs.end(),
                          [](const auto& a, const auto& b) { return a.measured_s < b.measured_s; });
  const std::string earliest = date_of(first->measured_s);
  const std::string latest = date_of(last->measured_s);
  return earliest == latest ? "measured " + latest
                            : fmt::format("measured {} to {}", earliest, latest);
}

std::string machine_line(const roofline::RooflineDocument& document) {
  const roofline::Machine& machine = document.machine;
  std::string text =
      fmt::format("{}, {:.3g} of {} CPUs usable (bound by {}), {:.0f} GiB, Linux {}",
                  machine.cpu_model, machine.cores_allowed, machine.cpus, machine.cores_bound_by,
                  static_cast<double>(machine.memory_bytes) / kGib, machine.kernel);
  for (const roofline::MachineGpu& gpu : machine.gpus) text += ", " + gpu.name;
  return text;
}

}  // namespace

std::string roofs_text(const roofline::RooflineDocument& document,
                       const report::TextOptions& options) {
  const auto line = [&options](std::string_view first, const std::string& text) {
    return report::hanging(first, report::printable(text, options), options);
  };
  std::string text = line("", machine_line(document));
  text += line("", when_measured(document.known.roofs) +
                       (document.modelled ? "; the GPU is emulated: its roofs are modelled" : ""));
  text += "\n";
  for (const RoofLine& each : lines_of(document.known.roofs)) {
    const std::string stem = report::printable(each.stem, options);
    text += line(report::pad_right("  " + stem, kStemColumns),
                 fmt::format("{}", fmt::join(each.values, ", ")));
  }
  for (const roofline::AbsentRoof& absent : document.known.absent) {
    const std::string name = report::printable(absent.name, options);
    text += line(report::pad_right("  " + name, kStemColumns), "not measured: " + absent.reason);
  }
  for (const std::string& note : document.notes) text += line("  note: ", note);
  return text;
}

}  // namespace unstarve::cli
