#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace unstarve {

/// Why a reading is not there. Absent is absent: it is never written down as zero.
enum class WhyAbsent {
  kNotSupported,  // this device, driver or kernel cannot say it
  kNoPermission,  // it could, but not to us
  kStale,         // there was a value, too old to be used
  kNotObserved,   // nobody looked: the source was off, or the recording holds no such event
};

/// "not_supported", "no_permission", "stale", "not_observed": the spelling in JSON and in a run.
std::string_view to_string(WhyAbsent why);
std::optional<WhyAbsent> parse_why_absent(std::string_view text);

/// A measured value, or the reason why there is none.
template <class T>
class Reading {
 public:
  Reading(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Reading(WhyAbsent why) : why_(why) {}           // NOLINT(google-explicit-constructor)
  Reading() = default;

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  /// Only when has_value().
  const T& value() const { return *value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }
  T value_or(T other) const { return value_.value_or(std::move(other)); }
  /// Only when not has_value().
  WhyAbsent why_absent() const { return why_; }

 private:
  std::optional<T> value_;
  WhyAbsent why_ = WhyAbsent::kNotObserved;
};

}  // namespace unstarve
