#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/live/live_screen.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using LiveDocument = nlohmann::ordered_json;

template <class T>
LiveDocument live_reading(const Reading<T>& reading) {
  const bool is_there = reading && std::isfinite(static_cast<double>(*reading));
  if (is_there) return *reading;
  const WhyAbsent why = reading ? WhyAbsent::kNotObserved : reading.why_absent();
  return {{"absent", std::string(to_string(why))}};
}

LiveDocument gpu_json(const LiveGpu& gpu) {
  LiveDocument uuid = nullptr;
  if (!gpu.uuid.empty()) uuid = gpu.uuid;
  return {{"index", gpu.index},
          {"uuid", std::move(uuid)},
          {"utilization_ratio", live_reading(gpu.utilization)},
          {"memory_used_bytes", live_reading(gpu.memory_bytes)},
          {"power_w", live_reading(gpu.power_w)}};
}

LiveDocument known_text(const std::string& text) {
  return text.empty() ? LiveDocument(nullptr) : LiveDocument(text);
}

LiveDocument other_gpu_json(const OtherGpu& other) {
  LiveDocument object = gpu_json(other.gpu);
  object["name"] = other.name;
  object["memory_total_bytes"] = live_reading(other.memory_total_bytes);
  object["processes"] = live_reading(other.processes);
  object["process_list"] = LiveDocument::array();
  for (const GpuProcess& process : other.process_list) {
    object["process_list"].push_back({{"pid", process.pid},
                                      {"user", known_text(process.user)},
                                      {"command", known_text(process.command)},
                                      {"memory_used_bytes", live_reading(process.memory_bytes)}});
  }
  return object;
}

LiveDocument job_json(const LiveJob& job) {
  LiveDocument object;
  object["run"] = job.run_dir;
  object["command"] = job.command;
  object["state"] = std::string(to_string(job.state));
  object["idle"] = live_reading(job.idle);
  object["elapsed_s"] = job.elapsed_s;
  object["quiet_s"] = job.quiet_s;
  object["emulated"] = job.emulated;
  object["steps"] = job.steps;
  object["ranks"] = job.ranks;
  object["step_s"] = live_reading(job.step_s);
  object["samples_per_s"] = live_reading(job.samples_per_s);
  object["input_wait"] = live_reading(job.waiting);
  object["blocked"] = live_reading(job.blocked);
  object["cpu_cores"] = live_reading(job.cpu_cores);
  object["cores_allowed"] = live_reading(job.cores_allowed);
  object["resident_bytes"] = live_reading(job.resident_bytes);
  object["gpus"] = LiveDocument::array();
  for (const LiveGpu& gpu : job.gpus) object["gpus"].push_back(gpu_json(gpu));
  return object;
}

}  // namespace

std::string live_json(std::span<const LiveJob> jobs, const std::vector<OtherGpu>* others) {
  LiveDocument document = {{"schema", "unstarve.top/1"}, {"jobs", LiveDocument::array()}};
  for (const LiveJob& job : jobs) document["jobs"].push_back(job_json(job));
  if (others != nullptr) {
    document["other_gpus"] = LiveDocument::array();
    for (const OtherGpu& other : *others) document["other_gpus"].push_back(other_gpu_json(other));
  }
  return json_text(document);
}

std::string tracked_json(const LiveJob& job) {
  constexpr std::size_t kGpusMax = 4;
  LiveDocument values = LiveDocument::object();
  const auto add = [&values](const std::string& key, const Reading<double>& reading) {
    if (reading && std::isfinite(*reading)) values["unstarve/" + key] = *reading;
  };
  add("input_wait", job.waiting);
  add("blocked", job.blocked);
  add("step_s", job.step_s);
  add("samples_per_s", job.samples_per_s);
  add("cpu_cores", job.cpu_cores);
  add("resident_bytes", job.resident_bytes);
  for (std::size_t i = 0; i < std::min(job.gpus.size(), kGpusMax); ++i) {
    const LiveGpu& gpu = job.gpus[i];
    const std::string name = "gpu" + std::to_string(gpu.index);
    add(name + "/utilization", gpu.utilization);
    add(name + "/memory_bytes", gpu.memory_bytes);
    add(name + "/power_w", gpu.power_w);
  }
  return json_text(LiveDocument{{"schema", "unstarve.tracked/1"},
                                {"elapsed_s", job.elapsed_s},
                                {"values", std::move(values)},
                                {"sentence", live_sentence(job)}});
}

}  // namespace unstarve::report
