#include "report/text/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "diagnose/errors/xid_catalogue.h"
#include "report/text/curve.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr int kSmallestCurve = 10;
constexpr int kWidestCurve = 60;
constexpr std::string_view kWipe = "\r\x1b[K";

std::string percent(double ratio) { return fmt::format("{:3.0f} %", ratio * 100); }

std::vector<std::string> numbers_of(const LiveNumbers& now) {
  std::vector<std::string> parts;
  if (now.wait_share) parts.push_back("input wait" + percent(*now.wait_share));
  if (now.samples_per_s) {
    parts.push_back(fmt::format("{:>5} samples/s", number_text(*now.samples_per_s)));
  }
  if (now.cpu_cores) parts.push_back(fmt::format("{:.1f} CPU cores", *now.cpu_cores));
  return parts;
}

/// Plain text is made safe and clipped; text with colours comes from this module and fits already.
std::string one_line(std::string_view text, const TextOptions& options) {
  if (text.find('\x1b') != std::string_view::npos) return std::string(text);
  return clip(printable(text, options), std::max(options.width - 1, 1), options);
}

}  // namespace

std::string render_sawtooth(std::span<const double> utilisation, const LiveNumbers& now,
                            const TextOptions& options) {
  const bool has_gpu =
      now.gpu_utilization || std::any_of(utilisation.begin(), utilisation.end(),
                                         [](double value) { return std::isfinite(value); });
  // The last column stays free: some terminals wrap as soon as it is written.
  int left = std::max(options.width, 40) - 1;
  const std::string name = !has_gpu ? "" : now.emulated ? "emulated GPU " : "GPU ";
  const std::string current = now.gpu_utilization ? percent(*now.gpu_utilization) : "";
  left -= display_width(name) + display_width(current) + 1;
  std::string tail;
  for (const std::string& part : numbers_of(now)) {
    const int wanted = display_width(part) + 2;
    if (left - display_width(tail) - wanted < kSmallestCurve) break;
    tail += "  " + part;
  }
  if (!has_gpu) return tail.substr(std::min<std::size_t>(2, tail.size()));
  const int columns = std::min(left - display_width(tail), kWidestCurve);
  const std::size_t shown = std::min(utilisation.size(), static_cast<std::size_t>(columns));
  const std::string curve = render_curve(utilisation.last(shown), 1, options).front();
  return paint(name, now.emulated ? Tone::kNotice : Tone::kStrong, options) +
         paint(pad_left(curve, columns), Tone::kBusy, options) + " " +
         paint(current, Tone::kStrong, options) + tail;
}

std::string render_verdict(const LiveVerdict& now) {
  constexpr double kHardly = 0.05;
  constexpr double kIdle = 0.5;
  std::string text = now.wait_share < kHardly ? "hardly waits for data" : "waits for data";
  text += " " + percent_text(now.wait_share);
  if (now.workers && now.wait_share >= kHardly) {
    text += fmt::format(" ({} worker{})", *now.workers, *now.workers == 1 ? "" : "s");
  }
  if (now.gpu_utilization) {
    text += fmt::format(", {}GPU busy {}", now.emulated ? "emulated " : "",
                        percent_text(*now.gpu_utilization));
    const bool otherwise = now.wait_share < kHardly && *now.gpu_utilization < kIdle;
    if (otherwise) text += " (idle for another reason)";
  }
  if (now.samples_per_s) text += fmt::format(", {} samples/s", number_text(*now.samples_per_s));
  return text + fmt::format(", {} step{}", now.steps, now.steps == 1 ? "" : "s");
}

std::string render_gpu_error(std::string_view subject, std::int64_t count, std::int64_t xid) {
  constexpr std::string_view kGpu = "gpu";
  if (subject.substr(0, kGpu.size()) == kGpu) subject.remove_prefix(kGpu.size());
  const std::string_view meaning = diagnose::words_of_xid(xid).meaning;
  const std::string errors =
      count == 1 ? std::string("error") : fmt::format("{} errors, the last", count);
  return fmt::format("GPU {} reported {} XID {}{}", subject, errors, xid,
                     meaning.empty() ? "" : fmt::format(" ({})", meaning));
}

ProgressLine::ProgressLine(const Clock& clock, const ProgressOptions& options, Sink sink)
    : clock_(clock),
      options_(options),
      sink_(std::move(sink)),
      started_ns_(clock.now_ns()),
      written_ns_(started_ns_) {}

bool ProgressLine::update(std::string_view text) {
  const std::int64_t now = clock_.now_ns();
  if (now - started_ns_ < options_.quiet_ns) return false;
  const std::int64_t every = options_.rewrite ? options_.rewrite_every_ns : options_.line_every_ns;
  if (now - written_ns_ < every && (drawn_ || !options_.rewrite)) return false;
  const std::string line = one_line(text, options_.text);
  const char* const back = options_.shared ? "\r" : "";
  sink_(options_.rewrite ? fmt::format("{}{}{}", kWipe, line, back) : line + "\n");
  written_ns_ = now;
  drawn_ = options_.rewrite;
  return true;
}

void ProgressLine::clear() {
  if (drawn_) sink_(kWipe);
  drawn_ = false;
}

void ProgressLine::finish(std::string_view text) {
  clear();
  if (!text.empty()) sink_(one_line(text, options_.text) + "\n");
}

}  // namespace unstarve::report
