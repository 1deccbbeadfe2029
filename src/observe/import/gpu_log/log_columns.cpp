#include "observe/import/gpu_log/log_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/units.h"

namespace unstarve::observe {

namespace {

struct NamedField {
  std::string_view name;
  LogField field;
};

// Of `nvidia-smi --query-gpu`, without units; reasons are called throttle or event reasons.
constexpr NamedField kQueryFields[] = {
    {"timestamp", LogField::kTime},
    {"index", LogField::kIndex},
    {"name", LogField::kName},
    {"gpu_name", LogField::kName},
    {"utilization.gpu", LogField::kUtilisation},
    {"memory.used", LogField::kMemoryUsed},
    {"memory.total", LogField::kMemoryTotal},
    {"power.draw", LogField::kPower},
    {"power.draw.instant", LogField::kPower},
    {"power.limit", LogField::kPowerLimit},
    {"enforced.power.limit", LogField::kPowerLimit},
    {"clocks.sm", LogField::kSmClock},
    {"clocks.current.sm", LogField::kSmClock},
    {"clocks.max.sm", LogField::kSmClockMax},
    {"active", LogField::kReasons},
    {"sw_power_cap", LogField::kHeldByPower},
    {"hw_power_brake_slowdown", LogField::kHeldByPower},
    {"sw_thermal_slowdown", LogField::kHeldByHeat},
    {"hw_thermal_slowdown", LogField::kHeldByHeat},
};

// Of `nvidia-smi dmon`.
constexpr NamedField kMonitorFields[] = {
    {"Date", LogField::kDate},        {"Time", LogField::kClock},
    {"gpu", LogField::kIndex},        {"sm", LogField::kUtilisation},
    {"fb", LogField::kMemoryUsed},    {"pwr", LogField::kPower},
    {"pclk", LogField::kSmClock},     {"pviol", LogField::kHeldByPower},
    {"tviol", LogField::kHeldByHeat},
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Where the first column ends, which may stand in quotes.
std::size_t end_of_column(std::string_view line, char divider) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == line.npos || line[first] != '"') return std::min(line.find(divider), line.size());
  const std::size_t closing = line.find('"', first + 1);
  return std::min(line.find(divider, std::min(closing, line.size())), line.size());
}

std::string_view unquoted(std::string_view part) {
  if (part.starts_with('"')) part.remove_prefix(1);
  if (part.ends_with('"')) part.remove_suffix(1);
  return trimmed(part);
}

std::vector<std::string_view> split(std::string_view line, char divider) {
  std::vector<std::string_view> parts;
  const bool blanks = divider == ' ';
  while (!line.empty()) {
    const std::size_t end =
        blanks ? std::min(line.find_first_of(" \t\r"), line.size()) : end_of_column(line, divider);
    const std::string_view part = trimmed(line.substr(0, end));
    if (!blanks || !part.empty()) parts.push_back(blanks ? part : unquoted(part));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return parts;
}

LogField query_field(std::string_view name) {
  name = trimmed(name.substr(0, name.find('[')));
  for (const std::string_view before : {"clocks_throttle_reasons.", "clocks_event_reasons."}) {
    if (name.starts_with(before)) name.remove_prefix(before.size());
  }
  for (const NamedField& known : kQueryFields) {
    if (known.name == name) return known.field;
  }
  return LogField::kOther;
}

LogField monitor_field(std::string_view name) {
  for (const NamedField& known : kMonitorFields) {
    if (known.name == name) return known.field;
  }
  return LogField::kOther;
}

/// The number that a text begins with: "45 %", "1234 MiB", "56.78 W"; absent where there is none,
/// as in "[N/A]" and "-".
Reading<double> number_in(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value) || value < 0) return WhyAbsent::kNotSupported;
  return value;
}

Reading<double> scaled(const Reading<double>& value, double scale) {
  return value ? Reading<double>(*value * scale) : value;
}

/// "Active", "Not Active", 0 or 1, percent of the time.
Reading<bool> flag_in(std::string_view text) {
  if (text == "Active") return true;
  if (text == "Not Active") return false;
  const Reading<double> number = number_in(text);
  return number ? Reading<bool>(*number > 0) : Reading<bool>(number.why_absent());
}

/// Digits of a date or a time, one number after another.
bool numbers_in(std::string_view text, std::span<std::int64_t> numbers) {
  for (std::int64_t& number : numbers) {
    const std::size_t first = text.find_first_of("0123456789");
    if (first == text.npos) return false;
    const auto read = std::from_chars(text.data() + first, text.data() + text.size(), number);
    if (read.ec != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  }
  return true;
}

/// Days since 1970 in the proleptic Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = y / 400;
  const std::int64_t of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2024/01/31" or "20240131", in ns since 1970.
Reading<std::int64_t> date_in(std::string_view text) {
  std::array<std::int64_t, 3> date{};
  if (text.find('/') == text.npos) {
    std::int64_t whole = 0;
    if (!numbers_in(text, std::span(&whole, 1))) return WhyAbsent::kNotObserved;
    date = {whole / 10000, whole / 100 % 100, whole % 100};
  } else if (!numbers_in(text, date)) {
    return WhyAbsent::kNotObserved;
  }
  const auto [year, month, day] = date;
  const bool sane =
      year >= 1970 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  if (!sane) return WhyAbsent::kNotObserved;
  return days_of(year, month, day) * 86400 * kSecondNs;
}

/// "13:14:15.678", in ns since midnight; milliseconds have three digits.
Reading<std::int64_t> clock_in(std::string_view text) {
  std::array<std::int64_t, 3> clock{};
  if (!numbers_in(text, clock)) return WhyAbsent::kNotObserved;
  const auto [hours, minutes, seconds] = clock;
  if (hours > 23 || minutes > 59 || seconds > 60) return WhyAbsent::kNotObserved;
  std::int64_t milliseconds = 0;
  if (const std::size_t dot = text.find('.'); dot != text.npos) {
    numbers_in(text.substr(dot), std::span(&milliseconds, 1));
  }
  milliseconds = std::min<std::int64_t>(milliseconds, 999);
  return (hours * 3600 + minutes * 60 + seconds) * kSecondNs + milliseconds * 1'000'000;
}

Reading<std::int64_t> time_in(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == text.npos) return WhyAbsent::kNotObserved;
  const Reading<std::int64_t> date = date_in(text.substr(0, blank));
  const Reading<std::int64_t> clock = clock_in(text.substr(blank));
  return date && clock ? Reading<std::int64_t>(*date + *clock) : WhyAbsent::kNotObserved;
}

void read_mask(std::string_view text, GpuLogSample& sample) {
  constexpr std::uint64_t kByPower = 0x4 | 0x80;  // the limit, the brake
  constexpr std::uint64_t kByHeat = 0x20 | 0x40;
  if (!text.starts_with("0x")) return;
  std::uint64_t mask = 0;
  if (std::from_chars(text.data() + 2, text.data() + text.size(), mask, 16).ec != std::errc())
    return;
  sample.held_by_power = (mask & kByPower) != 0;
  sample.held_by_heat = (mask & kByHeat) != 0;
}

/// Several columns may say it: one that says yes is enough.
void add_flag(std::string_view text, Reading<bool>& flag) {
  const Reading<bool> parsed = flag_in(text);
  if (parsed && !flag.value_or(false)) flag = parsed;
}

}  // namespace

std::optional<LogColumns> LogColumns::parse(std::string_view names) {
  LogColumns columns;
  names = trimmed(names);
  const bool monitor = names.starts_with('#');
  if (monitor) names = trimmed(names.substr(1));
  const bool commas = names.find(',') != names.npos;
  if (!commas && names.find(';') != names.npos) {
    columns.divider_ = ';';
  } else if (monitor && !commas) {
    columns.divider_ = ' ';
  }
  bool any = false;
  for (const std::string_view name : split(names, columns.divider_)) {
    if (monitor && name == "pid") return std::nullopt;  // of pmon: processes, and not GPUs
    const LogField field = monitor ? monitor_field(name) : query_field(name);
    columns.fields_.push_back(field);
    any = any || (field != LogField::kOther && field != LogField::kTime &&
                  field != LogField::kIndex && field != LogField::kName);
  }
  return any ? std::optional(std::move(columns)) : std::nullopt;
}

bool LogColumns::has_time_of_day() const {
  const auto has = [this](LogField field) {
    return std::find(fields_.begin(), fields_.end(), field) != fields_.end();
  };
  return has(LogField::kClock) && !has(LogField::kDate);
}

bool LogColumns::read(std::string_view line, GpuLogSample& sample, std::int64_t& index,
                      std::string& name) const {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  constexpr double kMostGpus = 4096;
  std::string points;
  if (divider_ == ';') {
    points = line;
    std::replace(points.begin(), points.end(), ',', '.');
    line = points;
  }
  const std::vector<std::string_view> texts = split(line, divider_);
  if (texts.size() < fields_.size()) return false;
  Reading<std::int64_t> date;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string_view text = texts[i];
    switch (fields_[i]) {
      case LogField::kOther: break;
      case LogField::kTime: sample.t_ns = time_in(text); break;
      case LogField::kDate: date = date_in(text); break;
      case LogField::kClock:
        if (const auto clock = clock_in(text); clock) sample.t_ns = *clock + date.value_or(0);
        break;
      case LogField::kIndex: {
        const Reading<double> number = number_in(text);
        if (!number || *number >= kMostGpus) return false;
        index = static_cast<std::int64_t>(*number);
        break;
      }
      case LogField::kName: name = text.substr(0, 96); break;
      case LogField::kUtilisation:
        sample.utilisation = scaled(number_in(text), 0.01);
        if (sample.utilisation) sample.utilisation = std::min(*sample.utilisation, 1.0);
        break;
      case LogField::kMemoryUsed: sample.memory_used = scaled(number_in(text), kMebibyte); break;
      case LogField::kMemoryTotal: sample.memory_total = scaled(number_in(text), kMebibyte); break;
      case LogField::kPower: sample.power_w = number_in(text); break;
      case LogField::kPowerLimit: sample.power_limit_w = number_in(text); break;
      case LogField::kSmClock: sample.clock_mhz = number_in(text); break;
      case LogField::kSmClockMax: sample.clock_max_mhz = number_in(text); break;
      case LogField::kReasons: read_mask(text, sample); break;
      case LogField::kHeldByHeat: add_flag(text, sample.held_by_heat); break;
      case LogField::kHeldByPower: add_flag(text, sample.held_by_power); break;
    }
  }
  return true;
}

}  // namespace unstarve::observe
