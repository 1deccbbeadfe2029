#pragma once

#include <string>
#include <vector>

#include "report/buckets.h"
#include "report/model/report_model.h"
#include "trace/store/run_rows.h"

namespace unstarve::serve {

/// A curve of one run, with what it is of.
struct NamedCurve {
  std::string run;
  trace::MetricRow metric;
  report::Series series;
};

/// Where a chart's time begins.
enum class Since { kStart, kTraining };

struct ColumnsWish {
  Since since = Since::kStart;
  double from_s = 0;  // of the part that is looked at; both 0: all
  double to_s = 0;
  int points = 800;
};

/// Curves in the same stretches of time, of each the least, the mean and the largest sample: a
/// chart of any run is as long as it is wide.
struct Columns {
  struct Column {
    std::string run;
    std::string subject;
    std::vector<report::Bucket> buckets;
  };
  std::string metric;
  std::string unit;
  Since since = Since::kStart;  // kStart where the training's begin is not known of each
  report::BucketRange range;    // that is drawn
  report::BucketRange whole;    // of all samples
  std::vector<Column> columns;
};

inline constexpr int kPointsMax = 4000;

/// `curves`: of one metric. A stretch is long enough for two samples of the densest curve.
Columns columns_of(std::vector<NamedCurve> curves, const ColumnsWish& wish);

/// The object of docs/formats/series.md.
std::string columns_json(const Columns& columns);
/// "t_s", and for each curve "RUN SUBJECT min", "... mean", "... max"; empty where no sample is.
std::string columns_csv(const Columns& columns);
/// A picture that needs nothing else.
std::string columns_svg(const Columns& columns);

/// "bytes" as "GB" and the like: the factor for values of up to `largest`, and the unit's name.
struct ShownUnit {
  double factor = 1;
  std::string name;
};
ShownUnit shown_unit(const std::string& unit, double largest);

}  // namespace unstarve::serve
