#pragma once

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

namespace unstarve {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Where the library's remarks go. The library itself never prints: whoever starts it decides.
/// Thread rule: write() may be called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
};

/// Drops everything; the default inside somebody else's process.
class SilentLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

/// Lines on stderr through spdlog, at `threshold` and above; for the command line.
std::unique_ptr<LogSink> make_stderr_log(LogLevel threshold);

template <class... Args>
void log(LogSink& sink, LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  sink.write(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace unstarve
