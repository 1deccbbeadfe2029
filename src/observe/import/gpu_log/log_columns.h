#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/import/gpu_log/gpu_log.h"

namespace unstarve::observe {

/// What a column of a log holds.
enum class LogField : std::uint8_t {
  kOther,  // not needed
  kTime,
  kDate,   // dmon -o D, the time in the next column
  kClock,  // dmon -o T
  kIndex,
  kName,
  kUtilisation,
  kMemoryUsed,
  kMemoryTotal,
  kPower,
  kPowerLimit,
  kSmClock,
  kSmClockMax,
  kReasons,     // a mask
  kHeldByHeat,  // a flag, or percent of the time
  kHeldByPower,
};

/// The columns of a log, by its line of names: "timestamp, index, utilization.gpu [%]", or
/// "# gpu  pwr gtemp  sm  mem"; also as a spreadsheet writes the former, with semicolons or quotes.
/// None where the line has no name that such a log has.
class LogColumns {
 public:
  static std::optional<LogColumns> parse(std::string_view names);

  /// What one line says, into `sample`, and of which GPU. False: it has too few columns.
  bool read(std::string_view line, GpuLogSample& sample, std::int64_t& index,
            std::string& name) const;
  /// Whether times are those of a day, which begin anew at midnight.
  bool has_time_of_day() const;

 private:
  std::vector<LogField> fields_;
  // Between columns; ' ' stands for any blanks. With ';' a comma is the point of a number.
  char divider_ = ',';
};

}  // namespace unstarve::observe
