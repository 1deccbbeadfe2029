#include "runs/cluster/job_records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/units.h"
#include "trace/json/json_text.h"
#include "trace/text/packed_text.h"

namespace unstarve::runs {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kJobstatsPrefix = "JS1:";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
// A job of a thousand nodes of eight GPUs has some 500 kB.
constexpr std::size_t kRecordBytesMax = 4U << 20;
constexpr double kPercent = 100;

/// Its parts between '|'. What goes beyond `most` belongs to the last: a job's name may hold any.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < most) {
    const std::size_t end = line.find('|');
    if (end == std::string_view::npos) break;
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.push_back(line);
  return fields;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// What stands behind `prefix` in a comment, where others may stand too.
std::optional<std::string_view> record_in(std::string_view comment, std::string_view prefix) {
  const std::size_t at = comment.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  comment.remove_prefix(at + prefix.size());
  return comment.substr(0, comment.find_first_not_of(kBase64));
}

/// A number that is there and may be: no record counts below zero.
Reading<double> number_in(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_number()) return {};
  const double value = at->get<double>();
  if (!std::isfinite(value) || value < 0) return {};
  return value;
}

std::string text_in(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// The sum of the numbers of an object, such as one for each GPU of a node, and how many they are.
struct Sum {
  double value = 0;
  double of = 0;
};

void add_numbers(const Json& node, const char* name, Sum& sum) {
  const auto at = node.find(name);
  if (at == node.end() || !at->is_object()) return;
  for (const auto& [gpu, value] : at->items()) {
    if (const Reading<double> number = number_in(*at, gpu.c_str())) {
      sum.value += *number;
      sum.of += 1;
    }
  }
}

/// Of a job's nodes. A node's GPUs may be there without its CPUs, and the other way round.
struct Nodes {
  Sum gpu_use, gpu_memory, gpu_memory_used;
  double cpus = 0, cpu_s = 0;
};

Nodes nodes_of(const Json& record) {
  Nodes nodes;
  const auto all = record.find("nodes");
  if (all == record.end() || !all->is_object()) return nodes;
  for (const auto& [name, node] : all->items()) {
    if (!node.is_object()) continue;
    add_numbers(node, "gpu_utilization", nodes.gpu_use);
    add_numbers(node, "gpu_total_memory", nodes.gpu_memory);
    add_numbers(node, "gpu_used_memory", nodes.gpu_memory_used);
    const Reading<double> cpus = number_in(node, "cpus");
    const Reading<double> cpu_s = number_in(node, "total_time");
    if (!cpus || !cpu_s) continue;
    nodes.cpus += *cpus;
    nodes.cpu_s += *cpu_s;
  }
  return nodes;
}

/// Jobstats' summary of a job; false where it is none.
bool add_jobstats(const Json& record, JobRecord& job) {
  if (!record.is_object()) return false;
  const Nodes nodes = nodes_of(record);
  job.by_jobstats = true;
  job.elapsed_s = number_in(record, "total_time");
  // Earlier versions wrote `true` for "some"; the GPUs that were read are counted then.
  const double seen = std::max(nodes.gpu_use.of, nodes.gpu_memory.of);
  const double gpus = std::max(seen, number_in(record, "gpus").value_or(0));
  if (gpus > 0) job.gpus = gpus;
  if (gpus > 0 && job.elapsed_s) job.gpu_hours = gpus * *job.elapsed_s / kSecondsPerHour;
  // A GPU without a figure may have done anything: there is no mean then.
  if (nodes.gpu_use.of > 0 && nodes.gpu_use.of == gpus) {
    job.gpu_use_ratio = std::min(nodes.gpu_use.value / nodes.gpu_use.of / kPercent, 1.0);
    if (job.gpu_hours) job.idle_gpu_hours = *job.gpu_hours * (1 - *job.gpu_use_ratio);
  }
  if (nodes.gpu_memory.of > 0 && nodes.gpu_memory_used.of > 0) {
    job.gpu_memory_bytes = nodes.gpu_memory.value;
    job.gpu_memory_used_bytes = nodes.gpu_memory_used.value;
  }
  if (nodes.cpus > 0) job.cpus = nodes.cpus;
  if (nodes.cpus > 0 && job.elapsed_s && *job.elapsed_s > 0) {
    job.cpu_cores = nodes.cpu_s / *job.elapsed_s;
  }
  return true;
}

/// Our own summary; false where it is none.
bool add_ours(const Json& record, JobRecord& job) {
  if (!record.is_object()) return false;
  job.watched = true;
  job.said = {text_in(record, "run"),     text_in(record, "verdict"),
              text_in(record, "cause"),   text_in(record, "detail"),
              number_in(record, "share"), text_in(record, "change"),
              text_in(record, "how"),     {}};
  const auto gain = record.find("gain");
  if (gain != record.end() && gain->is_array() && !gain->empty() && gain->front().is_number()) {
    job.said.gain = gain->front().get<double>();
  }
  if (!job.elapsed_s) job.elapsed_s = number_in(record, "duration_s");
  if (!job.gpu_hours) job.gpu_hours = number_in(record, "gpu_hours");
  if (const Reading<double> idle = number_in(record, "idle_gpu_hours")) job.idle_gpu_hours = idle;
  return true;
}

enum class Read { kNone, kDamaged, kRead };

template <class Add>
Read read_record(std::string_view comment, std::string_view prefix, JobRecord& job, Add add) {
  const auto packed = record_in(comment, prefix);
  // jobstats leaves "JS1:Short" and "JS1:None" on jobs of which it has nothing.
  if (!packed || packed->empty() || *packed == "Short" || *packed == "None") return Read::kNone;
  const auto text = trace::unpack_text(*packed, kRecordBytesMax);
  return text && add(trace::parse_json(*text), job) ? Read::kRead : Read::kDamaged;
}

/// Where the columns stand that are asked of sacct; none: it was not.
class Columns {
 public:
  explicit Columns(std::string_view header) : names_(fields_of(header, header.size() + 1)) {}
  std::size_t count() const { return names_.size(); }
  bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  std::string_view value(const std::vector<std::string_view>& fields, std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name) - names_.begin();
    return static_cast<std::size_t>(at) < fields.size() ? fields[static_cast<std::size_t>(at)]
                                                        : std::string_view();
  }

 private:
  std::vector<std::string_view> names_;
};

void add_job(const Columns& columns, std::string_view line, JobRecords& records) {
  const auto fields = fields_of(line, columns.count());
  const auto text = [&](std::string_view name) { return std::string(columns.value(fields, name)); };
  JobRecord job;
  job.job = text("JobID");
  const std::string_view comment = columns.value(fields, "AdminComment");
  const Read theirs = read_record(comment, kJobstatsPrefix, job, add_jobstats);
  const Read ours = read_record(comment, kSummaryPrefix, job, add_ours);
  if (theirs == Read::kDamaged || ours == Read::kDamaged) {
    if (records.unreadable++ == 0) records.first_unreadable = job.job;
    return;
  }
  if (theirs == Read::kNone && ours == Read::kNone) {
    // A job's steps ("4711.batch") have no comment of their own.
    if (job.job.find('.') == std::string::npos) ++records.without_record;
    return;
  }
  if (!job.gpus && !job.gpu_hours) {
    ++records.without_gpu;
    return;
  }
  job.user = text("User");
  job.account = text("Account");
  job.name = text("JobName");
  job.state = text("State");
  records.jobs.push_back(std::move(job));
}

}  // namespace

Result<JobRecords> read_job_records(std::string_view table) {
  const Columns columns(next_line(table));
  if (!columns.has("JobID") || !columns.has("AdminComment")) {
    return fail(
        ErrorCode::kInvalidArgument,
        "this is no table of sacct with the columns JobID and AdminComment: `sacct -X -P -o "
        "JobID,User,State,AdminComment,JobName` prints one");
  }
  JobRecords records;
  while (!table.empty()) {
    const std::string_view line = next_line(table);
    if (!line.empty()) add_job(columns, line, records);
  }
  std::stable_sort(records.jobs.begin(), records.jobs.end(),
                   [](const JobRecord& a, const JobRecord& b) {
                     return a.idle_gpu_hours.value_or(-1) > b.idle_gpu_hours.value_or(-1);
                   });
  return records;
}

}  // namespace unstarve::runs
