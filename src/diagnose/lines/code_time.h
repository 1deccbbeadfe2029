#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unstarve::diagnose {

/// One part of the job's code, and its share of some time.
struct CodeShare {
  std::string place = {};  // a line of the job's own: "train.py:57"; empty: none of it was seen
  std::string call = {};   // what runs there, as it is written: "loss.item()"; may be empty
  std::string what = {};   // "RandAugment", "decoding images", "saving a checkpoint"; may be empty
  double share = 0;        // of the time, as the looks stand for it
  std::int64_t looks = 0;  // that found it
  bool trains = false;     // a module, backward() or an optimizer runs there: the training itself
  std::string without_wait = {};  // lines with "-" and "+", where it waits for the device
};

/// What the Python of some threads was doing in some time, as looks at their stacks found it.
struct CodeTime {
  std::vector<CodeShare> parts = {};  // by share, largest first; small ones are left out
  std::int64_t looks = 0;             // in all; 0: nobody looked
};

}  // namespace unstarve::diagnose
