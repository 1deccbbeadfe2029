#include "predict/worker_calibration.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "trace/json/json_text.h"

namespace unstarve::predict {

namespace {

using Json = nlohmann::json;

constexpr double kLongestNs = 1e12;  // of anything that is measured in a few seconds
constexpr int kMostWorkers = 1024;
constexpr double kMostSamples = 1e9;
constexpr const char* kDamaged = "what the hook wrote of it is damaged";

/// A number of `object` within 0 and `most`.
std::optional<double> number_at(const Json& object, const char* key, double most) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

/// `[mean, standard error]` in nanoseconds.
std::optional<MeasuredMean> mean_at(const Json& crew, const char* key) {
  const auto found = crew.find(key);
  if (found == crew.end() || !found->is_array() || found->size() != 2) return std::nullopt;
  const Json& pair = *found;
  for (const Json& number : pair) {
    if (!number.is_number() || !(number.get<double>() >= 0 && number.get<double>() <= kLongestNs)) {
      return std::nullopt;
    }
  }
  return MeasuredMean{pair[0].get<double>() * kSecondsPerNs, pair[1].get<double>() * kSecondsPerNs};
}

std::optional<MeasuredCrew> crew_of(const Json& json) {
  const auto workers = number_at(json, "workers", kMostWorkers);
  const auto batches = number_at(json, "batches", kLongestNs);
  if (!workers || !batches || *workers < 1 || *batches < 1) return std::nullopt;
  const auto cpu = mean_at(json, "cpu_ns");
  const auto wall = mean_at(json, "wall_ns");
  const auto receive = mean_at(json, "receive_cpu_ns");
  const auto release = mean_at(json, "release_cpu_ns");
  if (!cpu || !wall || !receive || !release || cpu->mean_s <= 0 || wall->mean_s <= 0)
    return std::nullopt;
  return MeasuredCrew{static_cast<int>(*workers),
                      static_cast<std::int64_t>(*batches),
                      *cpu,
                      *wall,
                      *receive,
                      *release};
}

std::optional<WorkerCalibration> calibration_of(const Json& json) {
  const auto loader = number_at(json, "loader", kMostSamples);
  const auto samples = number_at(json, "samples", kMostSamples);
  const auto crews = json.find("measured");
  if (!loader || !samples || *samples < 1) return std::nullopt;
  if (crews == json.end() || !crews->is_array() || crews->empty()) return std::nullopt;
  const auto single = crew_of(crews->front());
  const auto many = crew_of(crews->back());
  if (!single || !many || single->workers != 1) return std::nullopt;
  return WorkerCalibration{static_cast<std::int64_t>(*loader), *samples, *single, *many};
}

}  // namespace

CalibrationText read_worker_calibration(std::string_view process_text) {
  CalibrationText read;
  const Json text = trace::parse_json(process_text);
  if (!text.is_object()) return read;
  const auto found = text.find("fetch_calibration");
  if (found == text.end()) return read;
  if (!found->is_object()) {
    read.refused = kDamaged;
    return read;
  }
  if (const auto why = found->find("refused"); why != found->end()) {
    read.refused = why->is_string() ? why->get<std::string>() : kDamaged;
    return read;
  }
  read.measured = calibration_of(*found);
  if (!read.measured) read.refused = kDamaged;
  return read;
}

}  // namespace unstarve::predict
