#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "base/reading.h"
#include "trace/store/run_rows.h"
#include "trace/store/sqlite.h"

namespace unstarve::trace {

// Each type that a column may have has a type of SQL, a value to be bound, and a way to be read.

/// Why a value is absent, in a column beside the value's, which is read before it.
template <class Value>
struct Absence {
  Value& value;
};

template <class Value>
constexpr const char* sql_type() {
  using T = std::remove_cvref_t<Value>;
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Reading<double>>) return "REAL";
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, ProcessRole> ||
                std::is_same_v<T, Absence<Reading<double>>>) {
    return "TEXT";
  }
  return "INTEGER";
}

inline SqlValue sql_value(std::int64_t number) { return number; }
inline SqlValue sql_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline SqlValue sql_value(bool is_so) { return std::int64_t{is_so}; }
inline SqlValue sql_value(double number) { return number; }
inline SqlValue sql_value(const std::string& text) { return text; }
inline SqlValue sql_value(const Reading<std::int64_t>& reading) { return reading; }
inline SqlValue sql_value(const Reading<double>& reading) { return reading; }
inline SqlValue sql_value(const Reading<LoaderFlags>& flags) {
  return flags ? SqlValue(number_of(*flags)) : SqlValue(nullptr);
}
inline SqlValue sql_value(ProcessRole role) { return to_string(role); }
inline SqlValue sql_value(StepSource source) { return number_of(source); }
inline SqlValue sql_value(LoaderStage stage) { return static_cast<std::int64_t>(stage); }
inline SqlValue sql_value(HostWorkKind kind) { return static_cast<std::int64_t>(kind); }
inline SqlValue sql_value(const Absence<const Reading<double>>& absence) {
  return absence.value ? SqlValue(nullptr) : SqlValue(to_string(absence.value.why_absent()));
}

inline void read_column(const Statement& row, int at, std::int64_t& number) {
  number = row.integer(at);
}
inline void read_column(const Statement& row, int at, std::uint64_t& number) {
  number = static_cast<std::uint64_t>(row.integer(at));
}
inline void read_column(const Statement& row, int at, bool& is_so) { is_so = row.integer(at) != 0; }
inline void read_column(const Statement& row, int at, double& number) { number = row.real(at); }
inline void read_column(const Statement& row, int at, std::string& text) { text = row.text(at); }
inline void read_column(const Statement& row, int at, Reading<std::int64_t>& reading) {
  reading = row.reading(at);
}
inline void read_column(const Statement& row, int at, Reading<double>& reading) {
  reading = row.is_null(at) ? Reading<double>(WhyAbsent::kNotObserved) : row.real(at);
}
inline void read_column(const Statement& row, int at, Reading<LoaderFlags>& flags) {
  flags = row.is_null(at) ? Reading<LoaderFlags>() : loader_flags(row.integer(at));
}
inline void read_column(const Statement& row, int at, ProcessRole& role) {
  role = parse_process_role(row.text(at));
}
inline void read_column(const Statement& row, int at, StepSource& source) {
  source = step_source(row.integer(at));
}
inline void read_column(const Statement& row, int at, LoaderStage& stage) {
  stage = static_cast<LoaderStage>(row.integer(at));
}
inline void read_column(const Statement& row, int at, HostWorkKind& kind) {
  kind = static_cast<HostWorkKind>(row.integer(at));
}
inline void read_column(const Statement& row, int at, Absence<Reading<double>> absence) {
  if (absence.value) return;
  if (const auto why = parse_why_absent(row.text(at))) absence.value = *why;
}

}  // namespace unstarve::trace
