#include "report/comparison.h"

#include <algorithm>
#include <utility>

namespace unstarve::report {
namespace {

bool same(const Reading<double>& a, const Reading<double>& b) {
  if (a.has_value() != b.has_value()) return false;
  return a ? *a == *b : a.why_absent() == b.why_absent();
}

bool same(const Measurement& a, const Measurement& b) {
  return a.step_us == b.step_us && same(a.au, b.au) && same(a.samples_per_s, b.samples_per_s) &&
         same(a.cpu_cores, b.cpu_cores) && same(a.gpu_utilization_mean, b.gpu_utilization_mean);
}

}  // namespace

std::vector<ComparisonRow> comparison_rows(const std::vector<Verification>& verification) {
  std::vector<ComparisonRow> rows;
  const Measurement* last_before = nullptr;
  for (const Verification& tried : verification) {
    std::string relative_to;
    const bool shares_before = last_before != nullptr && same(*last_before, tried.before);
    if (!shares_before) {
      const auto earlier = std::find_if(rows.begin(), rows.end(), [&](const ComparisonRow& row) {
        return same(row.measurement, tried.before);
      });
      if (earlier != rows.end()) {
        relative_to = earlier->what;
      } else {
        rows.push_back({"before", "", tried.before, std::nullopt, std::nullopt, std::nullopt});
        last_before = &tried.before;
      }
    }
    ComparisonRow row = {tried.remedy,    relative_to,    tried.after,
                         tried.predicted, tried.measured, std::nullopt};
    if (tried.predicted) row.held = tried.held;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool any_has(const std::vector<ComparisonRow>& rows, Reading<double> Measurement::*reading) {
  return std::any_of(rows.begin(), rows.end(), [&](const ComparisonRow& row) {
    return (row.measurement.*reading).has_value();
  });
}

}  // namespace unstarve::report
