#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "base/units.h"
#include "predict/measurements.h"
#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

using trace::Interval;

constexpr Range kUnknown = {0, 1};
// What the job does, as far as its CPU use is told apart: the training thread waits for the device,
// waits for the loader (and loads the batch itself), does the rest.
constexpr std::size_t kParts = 3;
// Each part takes CPUs of its own: fewer readings tell nothing, and give no error either.
constexpr std::size_t kFewestReadings = 3 * kParts;

using Vector = std::array<double, kParts>;
using Matrix = std::array<Vector, kParts>;

/// One reading: the seconds of each part in it, and the CPU seconds used.
struct Share {
  Vector parts_s = {};
  double cpu_s = 0;
};

double overlap_s(const std::vector<Interval>& disjoint, const Interval& when) {
  auto at = std::partition_point(
      disjoint.begin(), disjoint.end(),
      [&when](const Interval& interval) { return interval.end_ns <= when.start_ns; });
  std::int64_t ns = 0;
  for (; at != disjoint.end() && at->start_ns < when.end_ns; ++at) {
    ns += std::min(at->end_ns, when.end_ns) - std::max(at->start_ns, when.start_ns);
  }
  return static_cast<double>(ns) * kSecondsPerNs;
}

/// Whether nobody but the training process works for the job.
bool works_alone(const job::JobView& job, const job::Rank& rank) {
  return job.ranks().size() == 1 && rank.training.size() == 1 && !rank.loaders.empty() &&
         std::all_of(rank.loaders.begin(), rank.loaders.end(), [](const job::LoaderUse& loader) {
           return loader.config && loader.config->num_workers == 0;
         });
}

/// The training thread's waits for the device. Copies to it that come back when they have ended are
/// none: copying pageable memory is work.
std::vector<Interval> device_waits(const job::JobView& job, const job::Rank& rank) {
  const trace::Timeline& timeline = job.timeline();
  std::unordered_set<std::int64_t> staging_ns;  // when the calls began
  for (const trace::DeviceOp& op : timeline.device_ops) {
    const bool to_device = op.kind == trace::DeviceOpKind::kCopy &&
                           op.direction == trace::CopyDirection::kHostToDevice;
    const trace::HostCall* call = to_device ? job.host().launch_of(op) : nullptr;
    if (call != nullptr) staging_ns.insert(call->start_ns);
  }
  std::vector<Interval> waits;
  for (const Interval& call : job.host().blocking_calls(rank.training.front())) {
    if (staging_ns.count(call.start_ns) == 0) waits.push_back(call);
  }
  return waits;
}

std::vector<Share> shares_of(const job::JobView& job, const job::Rank& rank,
                             const std::vector<CpuReading>& job_cpu) {
  const std::vector<Interval> waits = device_waits(job, rank);
  std::vector<Share> shares;
  for (const CpuReading& reading : job_cpu) {
    const Interval& when = reading.when;
    if (when.start_ns < rank.span->start_ns || when.end_ns > rank.span->end_ns) continue;
    const double wall_s = static_cast<double>(when.duration_ns()) * kSecondsPerNs;
    const double device_s = overlap_s(waits, when);
    const double loader_s = overlap_s(rank.waits, when);
    const double rest_s = std::max(0.0, wall_s - device_s - loader_s);
    shares.push_back({{device_s, loader_s, rest_s}, reading.cpus * wall_s});
  }
  return shares;
}

/// By Gauss and Jordan; nothing where the parts cannot be told apart.
std::optional<Matrix> inverse(Matrix matrix) {
  constexpr double kSingular = 1e-6;  // of squared seconds: a thousandth of a second
  Matrix result = {};
  for (std::size_t i = 0; i < kParts; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < kParts; ++column) {
    // The matrix is symmetric and not negative: what remains on its diagonal is the largest.
    const double pivot = matrix[column][column];
    if (pivot < kSingular) return std::nullopt;
    for (std::size_t k = 0; k < kParts; ++k) {
      matrix[column][k] /= pivot;
      result[column][k] /= pivot;
    }
    for (std::size_t row = 0; row < kParts; ++row) {
      if (row == column) continue;
      const double factor = matrix[row][column];
      for (std::size_t k = 0; k < kParts; ++k) {
        matrix[row][k] -= factor * matrix[column][k];
        result[row][k] -= factor * result[column][k];
      }
    }
  }
  return result;
}

/// Least squares: CPU seconds = sum over the parts of their CPUs x their seconds.
std::optional<Range> cpus_of_first_part(const std::vector<Share>& shares) {
  Matrix squares = {};
  Vector products = {};
  for (const Share& share : shares) {
    for (std::size_t i = 0; i < kParts; ++i) {
      products[i] += share.parts_s[i] * share.cpu_s;
      for (std::size_t k = 0; k < kParts; ++k) {
        squares[i][k] += share.parts_s[i] * share.parts_s[k];
      }
    }
  }
  const std::optional<Matrix> inverted = inverse(squares);
  if (!inverted) return std::nullopt;
  Vector cpus = {};
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t k = 0; k < kParts; ++k) cpus[i] += (*inverted)[i][k] * products[k];
  }
  double squared_error = 0;
  for (const Share& share : shares) {
    double left_s = share.cpu_s;
    for (std::size_t i = 0; i < kParts; ++i) left_s -= cpus[i] * share.parts_s[i];
    squared_error += left_s * left_s;
  }
  const auto freedom = static_cast<double>(shares.size() - kParts);
  const double error = std::sqrt(squared_error / freedom * (*inverted)[0][0]);
  return Range{cpus[0] - kErrors * error, cpus[0] + kErrors * error};
}

}  // namespace

Range device_wait_cpu(const job::JobView& job, std::size_t rank,
                      const std::vector<CpuReading>& job_cpu) {
  const job::Rank& trains = job.ranks()[rank];
  if (!trains.span || !works_alone(job, trains)) return kUnknown;
  const std::vector<Share> shares = shares_of(job, trains, job_cpu);
  if (shares.size() < kFewestReadings) return kUnknown;
  const std::optional<Range> found = cpus_of_first_part(shares);
  if (!found) return kUnknown;
  return {std::clamp(found->low, 0.0, 1.0), std::clamp(found->high, 0.0, 1.0)};
}

}  // namespace unstarve::predict
