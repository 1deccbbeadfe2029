#include "cli/console/terminal.h"

#include <fmt/format.h>

#include "base/io/write.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace unstarve::cli {

namespace {

constexpr int kWidthWithoutTerminal = 100;
constexpr int kWidthMax = 120;
constexpr int kWidthMin = 40;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int terminal_width(Stream stream) {
  if (const int columns = std::atoi(std::string(variable("COLUMNS")).c_str()); columns > 0) {
    return columns;
  }
  winsize size{};
  if (::ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return kWidthWithoutTerminal;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos;
  }
  // No locale at all, as in most containers: their terminals are UTF-8 all the same.
  return true;
}

}  // namespace

bool is_terminal(Stream stream) {
  return ::isatty(static_cast<int>(stream)) == 1 && variable("TERM") != "dumb";
}

report::TextOptions text_options(Stream stream) {
  report::TextOptions options;
  options.width = std::clamp(terminal_width(stream), kWidthMin, kWidthMax);
  options.colour = is_terminal(stream) && variable("NO_COLOR").empty();
  options.unicode = locale_is_utf8();
  return options;
}

report::TextOptions report_options(Stream stream, bool verbose) {
  report::TextOptions options = text_options(stream);
  options.verbose = verbose;
  return options;
}

report::ProgressOptions progress_options() {
  report::ProgressOptions options;
  options.rewrite = is_terminal(Stream::kErr);
  options.text = text_options(Stream::kErr);
  return options;
}

void write_text(Stream stream, std::string_view text) {
  (void)io::write_all(static_cast<int>(stream), text);
}

void say(const std::string& text) {
  // Lines of a job's output, names in somebody's file: what they hold is not for the terminal.
  const report::TextOptions options = text_options(Stream::kErr);
  std::string shown = "unstarve: ";
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    shown += report::printable(std::string_view(text).substr(from, end - from), options) + "\n";
    from = end + 1;
  }
  write_text(Stream::kErr, shown);
}

ReadingLine::ReadingLine(std::string path, bool shown)
    : path_(std::move(path)),
      shown_(shown),
      line_(clock_, progress_options(), [](auto text) { write_text(Stream::kErr, text); }) {}

std::function<void(std::uint64_t, std::uint64_t)> ReadingLine::progress() {
  if (!shown_) return {};
  return [this](std::uint64_t done, std::uint64_t total) {
    const double percent =
        total == 0 ? 100 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
    line_.update(fmt::format("reading {}: {:.0f} %", path_, percent));
  };
}

void write_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    say("note: " + note);
  }
}

void write_remarks(const examine::Examination& examined, bool verbose) {
  std::vector<std::string> left;
  const std::vector<std::string>& predicted = examined.predictions.notes;
  for (const std::string& remark : examined.remarks) {
    const bool of_gains = std::find(predicted.begin(), predicted.end(), remark) != predicted.end();
    if (remark != examined.no_steps && (verbose || !of_gains)) left.push_back(remark);
  }
  if (!verbose && left.size() > 1) {
    left.front() += fmt::format(" ({} more with --verbose)", left.size() - 1);
    left.resize(1);
  }
  write_notes(left);
}

}  // namespace unstarve::cli
