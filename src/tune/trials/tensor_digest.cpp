#include "tune/trials/tensor_digest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace unstarve::tune {

namespace {

using Json = nlohmann::json;

/// What is not finite is written in words, or as null.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

double number_from(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

double member_or_0(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() ? number_from(*found) : 0;
}

TensorDigest tensor_from(const Json& json) {
  TensorDigest tensor;
  tensor.numbers = member_or_0(json, "numbers");
  tensor.begins = member_or_0(json, "begins");
  tensor.pull = member_or_0(json, "pull");
  tensor.end = member_or_0(json, "end");
  if (const auto early = json.find("early"); early != json.end() && early->is_array()) {
    for (const Json& element : *early) tensor.early.push_back(number_from(element));
  }
  const auto gradients = json.find("gradients");
  if (gradients != json.end() && gradients->is_string()) {
    tensor.gradients = gradients->get<std::string>();
  }
  return tensor;
}

}  // namespace

Json to_json(const TensorDigests& tensors) {
  Json json = Json::object();
  for (const auto& [name, tensor] : tensors) {
    Json early = Json::array();
    for (const double value : tensor.early) early.push_back(number_or_null(value));
    json[name] = {
        {"numbers", number_or_null(tensor.numbers)}, {"begins", number_or_null(tensor.begins)},
        {"pull", number_or_null(tensor.pull)},       {"early", early},
        {"end", number_or_null(tensor.end)},         {"gradients", tensor.gradients}};
  }
  return json;
}

TensorDigests tensors_from(const Json& json) {
  TensorDigests tensors;
  if (!json.is_object()) return tensors;
  for (const auto& [name, digest] : json.items()) {
    if (digest.is_object()) tensors[name] = tensor_from(digest);
  }
  return tensors;
}

}  // namespace unstarve::tune
