#include "cli/console/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "cli/console/terminal.h"

namespace unstarve::cli {

Screen::Screen() {
  termios settings{};
  if (::tcgetattr(STDIN_FILENO, &settings) == 0) {
    before_.resize(sizeof settings);
    std::memcpy(before_.data(), &settings, sizeof settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays a signal
    ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
  }
  write_text(Stream::kOut, "\x1b[?1049h\x1b[?25l");
}

Screen::~Screen() {
  write_text(Stream::kOut, "\x1b[?25h\x1b[?1049l");
  if (before_.empty()) return;
  termios settings{};
  std::memcpy(&settings, before_.data(), sizeof settings);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

bool Screen::is_possible() { return is_terminal(Stream::kOut) && ::isatty(STDIN_FILENO) == 1; }

int Screen::lines() {
  constexpr int kUsual = 24;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : kUsual;
}

void Screen::draw(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\x1b[K" + (i + 1 < lines.size() ? "\r\n" : "");
  }
  write_text(Stream::kOut, text + "\x1b[J");
}

std::optional<char> Screen::key(std::int64_t wait_ms) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(wait_ms)) <= 0) return std::nullopt;
  std::array<char, 16> bytes{};
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got <= 0) return std::nullopt;
  return got == 1 ? bytes[0] : '\0';
}

}  // namespace unstarve::cli
