#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/rates/rates.h"
#include "report/model/report_model.h"
#include "runs/collection.h"
#include "runs/entries.h"
#include "serve/state/curves.h"

namespace unstarve::serve {

/// A run among several that belong together.
struct RunPart {
  std::string name;   // by which it is asked for
  std::string label;  // its stage, or the folder of a trial
  Reading<double> duration_s = {};
};

/// The runs of a folder, with what was read of the last few, for as long as their files are the
/// same. Nothing outside of the folder is found: a name is one that the folder's list has.
class RunShelf {
 public:
  RunShelf(std::string folder, cost::Rates rates)
      : folder_(std::move(folder)), rates_(std::move(rates)) {}

  const std::string& folder() const { return folder_; }
  const cost::Rates& rates() const { return rates_; }

  /// As `unstarve runs list` has them. Errors: runs::read_collection()'s.
  Result<std::vector<runs::ListedRun>> list();
  /// The path of a run, or of runs that belong together, by its name there. Errors: kNotFound.
  Result<std::string> find(const std::string& name);
  /// All runs of what `name` is or belongs to, in the order in which they began: the stages of a
  /// job, the runs of a search. Empty for a run alone.
  std::vector<RunPart> parts(const std::string& name) const;
  /// Diagnosed. Errors: kNotFound; the run cannot be read.
  Result<std::shared_ptr<const report::Report>> report(const std::string& name);
  /// Errors: likewise.
  Result<std::shared_ptr<const Curves>> curves(const std::string& name);

 private:
  /// Of one run or entry; which of both was read so far.
  struct Kept {
    std::string name;
    std::string fingerprint;  // of all its runs, when the report was made
    std::shared_ptr<const report::Report> report;
    std::shared_ptr<Curves> curves;
  };
  struct Place {
    std::string path;
    std::string first_run;  // its path
    std::string fingerprint;
  };
  Status look();
  Result<Place> place_of(const std::string& name);
  Kept& kept(const std::string& name);

  std::string folder_;
  cost::Rates rates_;
  runs::Collection collection_;
  std::list<Kept> kept_;  // the one that was asked for last comes first
};

}  // namespace unstarve::serve
