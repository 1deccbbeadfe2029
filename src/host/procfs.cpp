#include "host/procfs.h"

#include <unistd.h>

#include <array>
#include <limits>
#include <sstream>
#include <string>

#include "host/text_scan.h"

namespace unstarve::host {

namespace {

tl::unexpected<Error> malformed(std::string_view subject) {
  return fail(ErrorCode::kCorruptData, "{} is not as proc(5) describes it", subject);
}

/// The number in a line `Name: number ...`, if the line is of that name.
std::optional<std::int64_t> field_of(std::string_view line, std::string_view name) {
  if (line.substr(0, name.size()) != name) return std::nullopt;
  line.remove_prefix(name.size());
  if (line.empty() || line.front() != ':') return std::nullopt;
  line.remove_prefix(1);
  return parse_number<std::int64_t>(take_word(line));
}

/// A count of kB as bytes; absent when it does not fit.
Reading<std::int64_t> bytes_of_kib(std::int64_t kib) {
  if (kib < 0 || kib > std::numeric_limits<std::int64_t>::max() / 1024) {
    return WhyAbsent::kNotSupported;
  }
  return kib * 1024;
}

std::optional<std::int64_t> pressure_total(std::string_view line) {
  while (true) {
    const std::string_view word = take_word(line);
    if (word.empty()) return std::nullopt;
    if (word.substr(0, 6) == "total=") return parse_number<std::int64_t>(word.substr(6));
  }
}

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view text) {
  // The command stands in parentheses and may contain some itself: it ends at the last one.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return malformed("/proc/PID/stat");
  }
  ProcessStat stat;
  const auto pid = parse_number<std::int64_t>(trim(text.substr(0, open)));
  stat.command = std::string(text.substr(open + 1, close - open - 1));
  std::string_view rest = trim(text.substr(close + 1));
  const std::string_view state = take_word(rest);
  if (!pid || state.size() != 1) return malformed("/proc/PID/stat");
  stat.pid = *pid;
  stat.state = state.front();
  // Fields 4 to 42, numbered as in proc(5).
  struct Wanted {
    int field;
    std::int64_t* to;
  };
  const std::array<Wanted, 9> wanted = {{{4, &stat.ppid},
                                         {14, &stat.user_ticks},
                                         {15, &stat.system_ticks},
                                         {16, &stat.reaped_user_ticks},
                                         {17, &stat.reaped_system_ticks},
                                         {20, &stat.threads},
                                         {22, &stat.start_ticks},
                                         {24, &stat.resident_pages},
                                         {42, &stat.block_io_ticks}}};
  std::size_t next = 0;
  for (int field = 4; field <= 42 && next < wanted.size(); ++field) {
    const std::string_view word = take_word(rest);
    if (field != wanted[next].field) continue;
    const auto number = parse_number<std::int64_t>(word);
    if (!number) return malformed("/proc/PID/stat");
    *wanted[next].to = *number;
    ++next;
  }
  return stat;
}

Result<ProcessIo> parse_process_io(std::string_view text) {
  ProcessIo io;
  int found = 0;
  while (const auto line = take_line(text)) {
    if (const auto chars = field_of(*line, "rchar")) io.read_chars = *chars, ++found;
    if (const auto bytes = field_of(*line, "read_bytes")) io.read_bytes = *bytes, ++found;
    if (const auto bytes = field_of(*line, "write_bytes")) io.write_bytes = *bytes, ++found;
  }
  if (found != 3) return malformed("/proc/PID/io");
  return io;
}

Result<SchedulerStat> parse_scheduler_stat(std::string_view text) {
  std::string_view line = trim(text);
  const auto run = parse_number<std::int64_t>(take_word(line));
  const auto wait = parse_number<std::int64_t>(take_word(line));
  if (!run || !wait) return malformed("/proc/PID/schedstat");
  return SchedulerStat{*run, *wait};
}

Result<ProcessStatus> parse_process_status(std::string_view text) {
  ProcessStatus status;
  while (const auto line = take_line(text)) {
    if (const auto count = field_of(*line, "voluntary_ctxt_switches")) {
      status.voluntary_switches = *count;
    } else if (const auto involuntary = field_of(*line, "nonvoluntary_ctxt_switches")) {
      status.involuntary_switches = *involuntary;
    } else if (line->substr(0, 18) == "Cpus_allowed_list:") {
      const Result<std::int64_t> cpus = count_cpu_list(line->substr(18));
      if (!cpus) return forward_error(cpus);
      status.allowed_cpus = *cpus;
    }
  }
  return status;
}

Result<MemoryInfo> parse_memory_info(std::string_view text) {
  MemoryInfo memory;
  while (const auto line = take_line(text)) {
    if (const auto total = field_of(*line, "MemTotal")) {
      memory.total_bytes = bytes_of_kib(*total).value_or(0);
    } else if (const auto available = field_of(*line, "MemAvailable")) {
      memory.available_bytes = bytes_of_kib(*available);
    } else if (const auto cached = field_of(*line, "Cached")) {
      memory.cached_bytes = bytes_of_kib(*cached);
    } else if (const auto dirty = field_of(*line, "Dirty")) {
      memory.dirty_bytes = bytes_of_kib(*dirty);
    }
  }
  if (memory.total_bytes <= 0) return malformed("/proc/meminfo");
  return memory;
}

Result<CpuTimes> parse_cpu_times(std::string_view text) {
  std::string_view line = take_line(text).value_or(std::string_view());
  if (take_word(line) != "cpu") return malformed("/proc/stat");
  // user nice system idle iowait irq softirq steal; guest times are part of the first two.
  std::array<std::int64_t, 8> ticks{};
  std::int64_t sum = 0;
  for (std::int64_t& value : ticks) {
    const auto number = parse_number<std::int64_t>(take_word(line));
    constexpr std::int64_t kTicksMax = std::numeric_limits<std::int64_t>::max() / 8;
    if (!number || *number < 0 || *number > kTicksMax) return malformed("/proc/stat");
    value = *number;
    sum += value;
  }
  CpuTimes times;
  times.idle_ticks = ticks[3];
  times.io_wait_ticks = ticks[4];
  times.busy_ticks = sum - ticks[3] - ticks[4];
  return times;
}

Result<Pressure> parse_pressure(std::string_view text) {
  Pressure pressure;
  bool some = false;
  while (auto line = take_line(text)) {
    const std::string_view kind = take_word(*line);
    const auto total = pressure_total(*line);
    if (!total) continue;
    if (kind == "some") {
      pressure.some_us = *total;
      some = true;
    } else if (kind == "full") {
      pressure.full_us = *total;
    }
  }
  if (!some) return malformed("a pressure file");
  return pressure;
}

std::string cpuinfo_value(std::string_view text, std::string_view name) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(name, 0) != 0 || colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

Result<std::int64_t> count_cpu_list(std::string_view text) {
  // Linux has at most 8192 CPUs; a text that names more is damaged.
  constexpr std::int64_t kCpusMax = 1 << 16;
  text = trim(text);
  std::int64_t count = 0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t dash = range.find('-');
    const auto first = parse_number<std::int64_t>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<std::int64_t>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kCpusMax) {
      return malformed("a list of CPUs");
    }
    count += *last - *first + 1;
    if (count > kCpusMax) return malformed("a list of CPUs");
  }
  return count;
}

std::int64_t ticks_per_s() {
  const long ticks = ::sysconf(_SC_CLK_TCK);
  return ticks > 0 ? ticks : 100;
}

std::int64_t page_bytes() {
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return bytes > 0 ? bytes : 4096;
}

}  // namespace unstarve::host
