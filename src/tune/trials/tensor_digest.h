#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace unstarve::tune {

/// What a training has made of one of its tensors by the end of the steps whose losses are
/// compared: a parameter, a buffer, what an optimizer keeps of one ("body.weight: exp_avg"), or a
/// tensor of a module beside the model.
struct TensorDigest {
  double numbers = 0;         // that it has
  double begins = 0;          // its length before the first update
  double pull = 0;            // the length of its first gradient; 0: it got none
  std::vector<double> early;  // how far it has moved behind the first steps, as a sketch
  double end = 0;             // how far at the end: a length
  // Update by update: '0' it got no gradient, '1' one of zeros, '2' one, '-' another optimizer's.
  std::string gradients;
};

using TensorDigests = std::map<std::string, TensorDigest>;

nlohmann::json to_json(const TensorDigests& tensors);
/// What does not fit is absent.
TensorDigests tensors_from(const nlohmann::json& json);

}  // namespace unstarve::tune
