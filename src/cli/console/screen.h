#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/terminal/terminal.h"

struct termios;

namespace unstarve::cli {

/// The whole terminal: another page of it than the shell's, keys as they are pressed. What was
/// there before is back when this goes.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether standard output and input are a terminal that can do this.
  static bool is_possible();
  /// Lines there are now; a window may change.
  static int lines();
  /// Draws over what is shown. `lines` are as wide as the terminal at most.
  static void draw(const std::vector<std::string>& lines);
  /// Waits for a key for so long; none: none came. An escape sequence is one key, 0.
  static std::optional<char> key(std::int64_t wait_ms);

 private:
  std::vector<unsigned char> before_;  // the terminal's settings
};

}  // namespace unstarve::cli
