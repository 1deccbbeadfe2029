#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace unstarve {

namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

class StderrLog final : public LogSink {
 public:
  explicit StderrLog(LogLevel threshold)
      : logger_("unstarve", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_level(spdlog_level(threshold));
    logger_.set_pattern("unstarve: %^%l%$: %v");
  }
  void write(LogLevel level, std::string_view message) override {
    logger_.log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

std::unique_ptr<LogSink> make_stderr_log(LogLevel threshold) {
  return std::make_unique<StderrLog>(threshold);
}

}  // namespace unstarve
