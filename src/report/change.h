#pragma once

#include <string>

#include "report/model/report_model.h"

namespace unstarve::report {

/// What to do, once for every form of a report. Paths are from the job's folder on. All parts are
/// empty where no change is named.
struct NamedChange {
  std::string sentence;  // beside lines: what they do not say; may be empty
  std::string lines;     // "-..." and "+...", each with an end of line
  std::string file;      // that a diff changes; empty: not known
  std::string command;   // that the sentence has in backquotes: "unstarve pack ..."
  std::string copied;    // what a reader takes along: the diff, the lines or the command

  bool empty() const { return sentence.empty() && lines.empty(); }
};

/// The change that was tried and kept, else the one that is advised.
NamedChange change_of(const Report& report);

}  // namespace unstarve::report
