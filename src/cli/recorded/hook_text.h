#pragma once

#include <string>

#include "trace/run_reader.h"

namespace unstarve::cli {

/// What the hook said of the training process (docs/formats/run.md); empty where it said nothing.
struct HookText {
  std::string dataset_class;      // with its module
  std::string dataset_root;       // the bytes of an absolute path, to be opened
  bool dataset_left_out = false;  // its path is too long for a ring's text
  std::string loader_place;       // "train.py:41"
  bool fix_applied = false;       // it changed a loader as UNSTARVE_FIX asked
  std::string fix_refused;        // why it left one alone; empty when it did not
};

HookText read_hook_text(const trace::RunReader& run);

}  // namespace unstarve::cli
