#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/reading.h"
#include "predict/speedup.h"

namespace unstarve::advise {

/// Something to do about a finding, in words and values for this job.
struct Remedy {
  std::string id;                                   // of the catalogue: "more_workers"
  std::string how;                                  // one imperative sentence
  std::map<std::string, std::int64_t> values = {};  // those in `how`: {"num_workers", 2}
  std::string edit = {};  // of the job's source, where it is that simple: lines with "-" and "+"
  std::string beside_edit = {};  // what those lines do not say: a sentence; may be empty
  Reading<predict::Speedup> predicted = {};
  bool place_unknown = false;  // somebody has to find first where in the job it is to be done
};

}  // namespace unstarve::advise
