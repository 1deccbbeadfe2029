#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/levers/catalogue.h"
#include "tune/result/tune_result.h"

namespace unstarve::tune {

/// A search for the batch of a job, beside levers that are kept.
struct BatchRequest {
  Argument argument;
  std::vector<std::string> kept;  // levers that all of its trials have
  double threshold = 1;           // what a gain's lower end has to beat
  // For sizes that memory leaves no room for, those that cost no time first.
  std::vector<Lever> for_memory = {};
  std::function<Result<TrialResult>(TrialRequest)> make;
  std::function<void(const Lever&)> introduce;  // before a lever's first trial
};

/// Tries sizes of the batch and adds a row for each to `rows`; where memory ends before larger
/// sizes are no better, also with each lever that is for it, on top of those before it that made
/// room. At most one is proposed: the fastest by sample whose gain is certain and which also held
/// in a run several times as long. Errors: those of `make`; kJobFailed where the job as it is
/// cannot be measured again. What was tried until then is in `rows`.
Status search_batch(const BatchRequest& request, std::vector<LeverResult>& rows);

/// What a batch so many times as large asks of the learning rate, in words.
std::string learning_rate_advice(const std::string& optimizer, double times);

/// "; a pass over the data is 2 steps then": where it has so few that an epoch's mean, its schedule
/// and the batch that drop_last leaves out are others. Empty: it has more, or nobody knows.
std::string pass_words(double steps_of_pass);

}  // namespace unstarve::tune
