#include "observe/import/gpu_log/gpu_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "observe/import/byte_source.h"
#include "observe/import/gpu_log/log_columns.h"
#include "observe/import/gpu_log/log_text.h"

namespace unstarve::observe {

namespace {

constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::uint64_t kMostSamples = 10'000'000;
// Warnings may stand before the names of the columns.
constexpr std::size_t kLinesBeforeNames = 10;
constexpr std::size_t kMostFaults = 8;
constexpr std::size_t kLongestFault = 200;

/// As the driver's library says that a GPU does not answer any more.
bool is_fault(std::string_view line) {
  for (const std::string_view words : {"GPU is lost", "Unable to determine the device handle",
                                       "Unknown Error", "GPU requires reset"}) {
    if (line.find(words) != line.npos) return true;
  }
  return false;
}

/// Takes a log line by line.
class LogReader {
 public:
  Status take(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == line.npos) return {};
    if (!columns_ || line.starts_with('#')) {
      take_names(line);
      return {};
    }
    if (take_names(line)) return {};  // a second log behind the first
    GpuLogSample sample;
    std::int64_t index = 0;
    std::string name;
    if (!columns_->read(line, sample, index, name)) {
      if (is_fault(line)) {
        add_fault(line);
      } else {
        ++log_.lines_lost;
      }
      return {};
    }
    if (columns_->has_time_of_day() && sample.t_ns) sample.t_ns = on_its_day(*sample.t_ns);
    if (++samples_ > kMostSamples) {
      return fail(ErrorCode::kCorruptData, "more than {} samples", kMostSamples);
    }
    LoggedGpu& gpu = gpus_[index];
    gpu.index = index;
    if (!name.empty()) gpu.name = std::move(name);
    gpu.samples.push_back(sample);
    return {};
  }

  bool gave_up() const { return !columns_ && lines_without_names_ > kLinesBeforeNames; }
  bool has_columns() const { return columns_.has_value(); }

  GpuLog finish() {
    for (auto& [index, gpu] : gpus_) log_.gpus.push_back(std::move(gpu));
    return std::move(log_);
  }

 private:
  static constexpr std::int64_t kHourNs = 3600 * kSecondNs;

  /// Behind midnight the clock begins anew; by less it may be set back.
  std::int64_t on_its_day(std::int64_t of_day_ns) {
    if (of_day_ns < last_of_day_ns_ - 12 * kHourNs) midnights_ns_ += 24 * kHourNs;
    last_of_day_ns_ = of_day_ns;
    return midnights_ns_ + of_day_ns;
  }

  // dmon repeats its two lines of names, the second of which has units.
  bool take_names(std::string_view line) {
    auto columns = LogColumns::parse(line);
    if (!columns) {
      ++lines_without_names_;
      return false;
    }
    columns_ = std::move(columns);
    return true;
  }

  void add_fault(std::string_view line) {
    const std::string words(line.substr(0, std::min(line.find('\r'), kLongestFault)));
    const auto known =
        std::find_if(log_.faults.begin(), log_.faults.end(),
                     [&words](const LoggedFault& fault) { return fault.words == words; });
    if (known != log_.faults.end()) {
      ++known->lines;
    } else if (log_.faults.size() < kMostFaults) {
      log_.faults.push_back({words, 1});
    } else {
      ++log_.faults.back().lines;
    }
  }

  std::optional<LogColumns> columns_;
  std::size_t lines_without_names_ = 0;
  std::uint64_t samples_ = 0;
  std::int64_t last_of_day_ns_ = 0;
  std::int64_t midnights_ns_ = 0;
  std::map<std::int64_t, LoggedGpu> gpus_;
  GpuLog log_;
};

/// Hands over the whole lines in `text` and leaves the rest in it.
Status take_lines(std::string& text, LogReader& reader) {
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find('\n', start);
    if (end == text.npos) break;
    const Status taken = reader.take(std::string_view(text).substr(start, end - start));
    if (!taken) return taken;
    start = end + 1;
  }
  text.erase(0, start);
  if (text.size() > kLongestLine) {
    return fail(ErrorCode::kCorruptData, "a line is longer than {} bytes", kLongestLine);
  }
  return {};
}

Status read_all(ByteSource& source, LogReader& reader) {
  std::string text;
  LogText decoded;
  std::vector<char> chunk(kLongestLine);
  while (!reader.gave_up()) {
    const auto bytes = source.read(chunk);
    if (!bytes) return forward_error(bytes);
    if (*bytes == 0) break;
    decoded.append(std::span(chunk).first(*bytes), text);
    if (const Status taken = take_lines(text, reader); !taken) return taken;
  }
  return reader.take(text);  // a last line without an end
}

Result<GpuLog> import_from(const Result<std::unique_ptr<ByteSource>>& source,
                           const std::string& name) {
  if (!source) return forward_error(source);
  LogReader reader;
  if (const Status read = read_all(**source, reader); !read) {
    return fail(read.error().code, "{} is not a readable log of nvidia-smi: {}", name,
                read.error().message);
  }
  if (!reader.has_columns()) {
    return fail(ErrorCode::kCorruptData,
                "{} is no log of nvidia-smi: no line names columns such as utilization.gpu", name);
  }
  GpuLog log = reader.finish();
  if (log.gpus.empty()) {
    return fail(ErrorCode::kCorruptData, "{} names its columns and holds no sample", name);
  }
  return log;
}

}  // namespace

bool is_gpu_log(const std::string& path) {
  constexpr std::size_t kEnough = 4096;
  const auto source = open_byte_source(path);
  if (!source) return false;
  std::string raw(kEnough, '\0');
  const auto bytes = (*source)->read(raw);
  if (!bytes) return false;
  std::string start;
  LogText().append(std::span(raw).first(*bytes), start);
  // A trace in JSON may hold any words.
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos || start[first] == '{' || start[first] == '[') return false;
  std::string_view rest = start;
  for (std::size_t i = 0; i <= kLinesBeforeNames && !rest.empty(); ++i) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (LogColumns::parse(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Result<GpuLog> import_gpu_log(const std::string& path) {
  return import_from(open_byte_source(path), path);
}

Result<GpuLog> import_gpu_log_bytes(std::span<const char> bytes, const std::string& name) {
  return import_from(make_memory_source(bytes, name), name);
}

Reading<trace::Interval> span_of(const LoggedGpu& gpu) {
  std::optional<trace::Interval> span;
  for (const GpuLogSample& sample : gpu.samples) {
    if (!sample.t_ns) continue;
    if (!span) span = trace::Interval{*sample.t_ns, *sample.t_ns};
    span->start_ns = std::min(span->start_ns, *sample.t_ns);
    span->end_ns = std::max(span->end_ns, *sample.t_ns);
  }
  return span ? Reading<trace::Interval>(*span) : WhyAbsent::kNotObserved;
}

}  // namespace unstarve::observe
