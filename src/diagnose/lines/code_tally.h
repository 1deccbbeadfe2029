#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "diagnose/lines/code_time.h"
#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// Adds up looks at stacks, each for the time that it stands for.
///
/// A look needs Python's lock. One that got it at once found what ran when it was due, and one that
/// got it by force, after Python's switch interval, what kept the lock. One that got it in between
/// found what came *after* whatever kept the lock. Where many got it by force, those in between
/// are given to what they found.
///
///   CodeTally tally(CodeTally::By::kLine);
///   tally.add(sample, timeline.stacks[sample.stack]);
///   CodeTime time = tally.result();
class CodeTally {
 public:
  enum class By {
    kLine,        // of the job, whatever runs there
    kSamplePart,  // what a fetch does: a transform's class, decoding, collating, or else the line
  };
  explicit CodeTally(By by) : by_(by) {}

  void add(const trace::StackSample& sample, const trace::Stack& stack);
  /// Parts of 5 % or more, at most four. None where fewer than ten looks were added.
  CodeTime result() const;

 private:
  struct Part {
    double weight = 0;
    double forced = 0;   // of it, of looks that got Python's lock by force
    double between = 0;  // of it, of looks that waited and then were given it
    std::int64_t looks = 0;
    // place, call, what, without_wait, trains
    std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, double> details;
  };

  By by_;
  double share_of(const Part& part) const;

  double weight_ = 0;
  double forced_ = 0;
  double between_ = 0;
  std::int64_t looks_ = 0;
  std::map<std::string, Part> parts_;
};

}  // namespace unstarve::diagnose
