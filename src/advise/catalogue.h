#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/job_facts.h"
#include "advise/parts/application.h"
#include "advise/parts/line_time.h"
#include "advise/parts/prediction_basis.h"
#include "advise/remedy.h"
#include "base/reading.h"
#include "diagnose/signals/signals.h"
#include "predict/step_edit.h"
#include "predict/what_if.h"

namespace unstarve::advise {

/// What a remedy takes, least first: the order in which remedies are named and tried.
enum class Effort {
  kRecordAgain,   // look once more before anything is changed
  kArgument,      // a value in the job's source
  kImport,        // another class in the place of one
  kCache,         // that, and room on a disk
  kPreparedData,  // a new copy of the data
  kRewrite,       // a few lines of the step or the data set
  kTrajectory,    // changes what is trained, so other values have to follow
  kEnvironment,   // the machine, the container, the storage
  kSearch,        // somebody has to find the place first
};

/// What a remedy is worded by.
struct Situation {
  const diagnose::Signals& signals;
  const JobFacts& job;
  std::string line = {};  // of the job, that the finding's time goes to: see line_of(); or empty
  std::string without_wait = {};  // that line as it waits for nothing: "-" and "+"; or empty
  std::string work = {};  // that this line does, where it makes data: "tokenizing"; or empty
  std::optional<LineTime> line_time = {};  // what is spent at such lines; for predictions
};

/// One remedy: one file in remedies/.
struct CatalogueEntry {
  std::string id;
  Effort effort = Effort::kRewrite;
  /// For the claim of a rule (diagnose::Rule::name): the remedy with the values for this job, or
  /// nothing where the rule's cause is not its affair or it cannot help here.
  std::function<std::optional<Remedy>(const Situation&, std::string_view rule)> offer;
  /// The edit of the pipeline model that it is. Empty: its gain is not predicted. Nothing: what the
  /// edit needs to know is not known.
  std::function<std::optional<predict::Remedy>(const Remedy&, const PredictionBasis&)> model = {};
  /// The edit of a step that it is, for remedies of the training itself. Empty: its gain is not
  /// predicted so. Absent: a signal that it takes is.
  std::function<Reading<predict::StepEdit>(const Situation&, std::string_view rule)> edit = {};
  /// Empty: it takes a change of the user's source or of the machine.
  std::function<std::optional<Application>(const Remedy&)> apply = {};
  bool gains_later = false;    // from the second pass over the data on
  bool names_no_work = false;  // gives way to the remedy of a known work
  /// Beside `model`, without `apply`: why a trial would not show the gain, and what to do instead.
  std::string why_not_tried = {};
};

/// Every remedy there is, by effort. A new one is a file in remedies/ that defines
/// `CatalogueEntry NAME_remedy()`; the build lists them.
const std::vector<CatalogueEntry>& catalogue();
/// Null where there is none with this id.
const CatalogueEntry* find_entry(std::string_view id);

/// What is offered for the claims of `rules`, in their order and then by effort; each remedy once.
std::vector<Remedy> offers(const Situation& situation, const std::vector<std::string>& rules);

/// An entry without values: for the claim of each of these rules a sentence.
CatalogueEntry plain_entry(
    std::string id, Effort effort,
    std::initializer_list<std::pair<std::string_view, std::string_view>> how_by_rule);

}  // namespace unstarve::advise
