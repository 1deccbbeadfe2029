#include "cli/console/job_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/console/terminal.h"
#include "report/live/live_screen.h"

namespace unstarve::cli {

JobScreen::JobScreen(const std::string& where, std::int64_t every_ns, Clock& clock)
    : clock_(clock), where_(where), every_ns_(every_ns), jobs_(where, clock) {
  if (where.empty()) gpus_.emplace(clock);
}

Status JobScreen::turn(std::int64_t most_ms) {
  bool is_new = was_pressed_;
  if (clock_.now_ns() >= due_ns_) {
    due_ns_ = clock_.now_ns() + every_ns_;
    if (const Status updated = jobs_.update(); !updated) return updated;
    is_new = true;
  }
  if (is_new) {
    if (!paused_) {
      shown_ = jobs_.look(kZooms[zoom_], 0);
      if (gpus_) others_ = gpus_->look(shown_, kZooms[zoom_]);
    }
    Screen::draw(drawn());
  }
  constexpr std::int64_t kMsNs = 1'000'000;
  const std::int64_t wait_ms = std::max<std::int64_t>(0, (due_ns_ - clock_.now_ns()) / kMsNs);
  const auto key = Screen::key(std::min(wait_ms, most_ms));
  was_pressed_ = key.has_value();
  if (key) press(*key);
  return {};
}

void JobScreen::press(char key) {
  switch (key) {
    case 'q': left_ = true; break;
    case ' ':
    case 'p': paused_ = !paused_; break;
    case '+': zoom_ -= zoom_ > 0 ? 1 : 0; break;
    case '-': zoom_ += zoom_ + 1 < kZooms.size() ? 1 : 0; break;
    case 'n':
    case '\t': ++first_; break;
    default: break;
  }
}

std::vector<std::string> JobScreen::drawn() const {
  const report::TextOptions text = text_options(Stream::kOut);
  const std::string head =
      fmt::format("{} job{}   curves of {} s   q leave  p {}  + - zoom  n next{}", shown_.size(),
                  shown_.size() == 1 ? "" : "s", kZooms[zoom_], paused_ ? "go on" : "pause",
                  paused_ ? "   PAUSED" : "");
  std::vector<std::string> lines = {
      report::paint(report::clip(head, text.width, text), report::Tone::kFaint, text), ""};
  const int room = std::max(Screen::lines() - static_cast<int>(lines.size()), 1);
  std::vector<std::string> gpus = report::render_other_gpus(others_, text);
  // Jobs have half of the screen at least, and an empty line below them.
  gpus.resize(std::min(gpus.size(), static_cast<std::size_t>(room) / 2));
  const int for_jobs = room - static_cast<int>(gpus.size()) - (gpus.empty() ? 0 : 1);
  for (std::string& line : job_lines(std::max(for_jobs, 1))) lines.push_back(std::move(line));
  if (!gpus.empty()) lines.emplace_back();
  for (std::string& line : gpus) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> JobScreen::job_lines(int room) const {
  const report::TextOptions text = text_options(Stream::kOut);
  if (shown_.empty()) return {report::clip(nothing_watched(where_), text.width, text)};
  std::vector<report::LiveJob> jobs = shown_;
  std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(first_ % jobs.size()),
              jobs.end());
  return report::render_jobs(jobs, text, room);
}

std::string nothing_watched(const std::string& where) {
  return where.empty() ? "no job is watched on this machine: unstarve run -- python train.py"
                       : fmt::format("no run goes on in {}", where);
}

}  // namespace unstarve::cli
