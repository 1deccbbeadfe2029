#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "isolation/isolation.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What a search was asked for, as its journal begins.
struct JournalHead {
  std::vector<std::string> command;
  std::vector<std::string> arguments;  // --arg
  std::vector<std::string> only;
  double trial_seconds = 0;
  int parity_steps = 0;
  std::string gpu = {};                   // emulated, by name or file; empty: the machine's own
  std::vector<std::string> allowed = {};  // --allow
  isolation::IsolationWish isolation = {};
};

/// FOLDER/journal.jsonl: the head, then a line for each trial, on the disk before the next trial
/// begins. A kill at any moment loses the trial that ran, and nothing else.
/// Thread rule: one thread.
class Journal {
 public:
  /// Errors: kInvalidArgument where the folder has a journal already.
  static Result<Journal> create(const std::string& folder, const JournalHead& head);
  /// Reads what is there and goes on behind it: what follows the last whole line is cut off.
  /// Errors: kNotFound; kCorruptData where the head, or a line before the last, is broken.
  static Result<Journal> open(const std::string& folder);

  const JournalHead& head() const { return head_; }
  const TrialResult* find(const std::string& label) const;
  std::size_t trials() const { return results_.size(); }
  Status add(const std::string& label, const TrialResult& result);

 private:
  JournalHead head_;
  std::map<std::string, TrialResult> results_;
  FileDescriptor file_;
};

}  // namespace unstarve::tune
