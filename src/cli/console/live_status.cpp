#include "cli/console/live_status.h"

#include <algorithm>
#include <limits>

#include "base/units.h"
#include "cli/console/terminal.h"

namespace unstarve::cli {

namespace {

// Images come in batches: a rate over less than a few of them jumps.
constexpr std::int64_t kRateWindowNs = 2'000'000'000;
constexpr int kLabelWidth = 18;

/// Of most trials the same, so that their curves stand below each other.
int label_width(const std::string& label) {
  constexpr int kAround = 3;
  return std::max(kLabelWidth, static_cast<int>(label.size()) + kAround);
}

/// The width that is left beside the label.
report::TextOptions sawtooth_options(const std::string& label) {
  report::TextOptions options = text_options(Stream::kErr);
  options.width -= label_width(label);
  return options;
}

Reading<double> latest(const observe::LiveView& view, std::string_view name) {
  for (const observe::LatestSample& sample : view.latest) {
    if (sample.name == name) return sample.value;
  }
  return WhyAbsent::kNotObserved;
}

}  // namespace

LiveStatus::LiveStatus(const Clock& clock, const std::string& label, bool emulated)
    : clock_(clock),
      label_(report::pad_right("  " + label, label_width(label))),
      text_(sawtooth_options(label)),
      line_(clock, progress_options(),
            [](std::string_view text) { write_text(Stream::kErr, text); }) {
  now_.emulated = emulated;
}

void LiveStatus::update(const observe::LiveView& view) {
  const std::int64_t now_ns = clock_.now_ns();
  if (since_ns_ == 0) since_ns_ = now_ns;
  if (now_ns - since_ns_ >= kRateWindowNs) {
    const double elapsed_s = static_cast<double>(now_ns - since_ns_) * kSecondsPerNs;
    if (view.samples > 0) {
      now_.samples_per_s = static_cast<double>(view.samples - since_samples_) / elapsed_s;
    }
    // A wait is counted when it ends, so that one longer than the window would give over 1.
    const double waited_s = static_cast<double>(view.waited_ns - since_waited_ns_) * kSecondsPerNs;
    now_.wait_share = std::min(waited_s / elapsed_s, 1.0);
    since_ns_ = now_ns;
    since_samples_ = view.samples;
    since_waited_ns_ = view.waited_ns;
  }
  now_.cpu_cores = latest(view, "job.cpu_cores");
  now_.gpu_utilization = latest(view, "gpu.utilization_ratio");
  utilization_.clear();
  for (const Reading<double>& value : view.gpu_utilization) {
    utilization_.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  const std::string line = label_ + report::render_sawtooth(utilization_, now_, text_);
  // Once the job only shuts down, its GPU idles: that is not what the line is to end with.
  if (view.steps > steps_ || last_with_steps_.empty()) last_with_steps_ = line;
  steps_ = view.steps;
  line_.update(line);
}

void LiveStatus::finish() { line_.finish(last_with_steps_); }

void LiveStatus::drop() { line_.clear(); }

}  // namespace unstarve::cli
