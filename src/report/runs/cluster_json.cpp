#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "report/runs/cluster_text.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using ClusterJson = nlohmann::ordered_json;

/// Only what is known.
void put_number(ClusterJson& object, const char* name, const Reading<double>& reading) {
  if (reading) object[name] = *reading;
}

void put_text(ClusterJson& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

ClusterJson said_json(const runs::WatchedJob& said) {
  ClusterJson object = ClusterJson::object();
  put_text(object, "run", said.run);
  put_text(object, "verdict", said.verdict);
  put_text(object, "cause", said.cause);
  put_text(object, "detail", said.detail);
  put_number(object, "share", said.share);
  put_text(object, "change", said.change);
  put_text(object, "how", said.how);
  put_number(object, "gain", said.gain);
  return object;
}

ClusterJson job_json(const runs::JobRecord& job) {
  ClusterJson object = {{"job", job.job}};
  put_text(object, "user", job.user);
  put_text(object, "account", job.account);
  put_text(object, "name", job.name);
  put_text(object, "state", job.state);
  object["jobstats"] = job.by_jobstats;
  put_number(object, "elapsed_s", job.elapsed_s);
  put_number(object, "gpus", job.gpus);
  put_number(object, "gpu_use_ratio", job.gpu_use_ratio);
  put_number(object, "gpu_hours", job.gpu_hours);
  put_number(object, "idle_gpu_hours", job.idle_gpu_hours);
  put_number(object, "gpu_memory_used_bytes", job.gpu_memory_used_bytes);
  put_number(object, "gpu_memory_bytes", job.gpu_memory_bytes);
  put_number(object, "cpus", job.cpus);
  put_number(object, "cpu_cores", job.cpu_cores);
  object["watched"] = job.watched ? said_json(job.said) : ClusterJson(nullptr);
  return object;
}

}  // namespace

std::string cluster_json(const runs::JobRecords& records, std::size_t at_most) {
  ClusterJson jobs = ClusterJson::array();
  const std::size_t shown = std::min(records.jobs.size(), at_most);
  for (std::size_t i = 0; i < shown; ++i) jobs.push_back(job_json(records.jobs[i]));
  return json_text(ClusterJson{{"schema", "unstarve.cluster_jobs/1"},
                               {"jobs", std::move(jobs)},
                               {"left_out",
                                {{"by_limit", records.jobs.size() - shown},
                                 {"without_gpu", records.without_gpu},
                                 {"without_record", records.without_record},
                                 {"damaged", records.unreadable}}}});
}

}  // namespace unstarve::report
