#include "cli/console/tracked_values.h"

#include "base/io/write.h"
#include "base/units.h"
#include "report/live/live_screen.h"

namespace unstarve::cli {

namespace {

constexpr std::int64_t kEveryNs = 10 * kSecondNs;

}  // namespace

TrackedValues::TrackedValues(const std::string& run_dir, Clock& clock)
    : clock_(clock),
      path_(run_dir + "/tracked.json"),
      jobs_(run_dir, clock),
      due_ns_(clock.now_ns() + kEveryNs) {}

void TrackedValues::tick() {
  if (clock_.now_ns() < due_ns_) return;
  due_ns_ = clock_.now_ns() + kEveryNs;
  if (!jobs_.update()) return;
  const auto jobs = jobs_.look(0, 0);
  // Before the first step there is nothing of the training to say.
  if (jobs.empty() || jobs.front().steps == 0) return;
  (void)io::replace_file(path_, report::tracked_json(jobs.front()));
}

}  // namespace unstarve::cli
