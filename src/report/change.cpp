#include "report/change.h"

#include <string_view>

#include "report/headline.h"
#include "report/words/changed_part.h"
#include "report/words/shown_paths.h"

namespace unstarve::report {
namespace {

/// What stands between the first backquotes, if that is a command of unstarve.
std::string command_in(std::string_view sentence) {
  constexpr std::string_view kOpening = "`unstarve ";
  const std::size_t open = sentence.find(kOpening);
  if (open == std::string_view::npos) return {};
  const std::size_t close = sentence.find('`', open + 1);
  if (close == std::string_view::npos) return {};
  return std::string(sentence.substr(open + 1, close - open - 1));
}

/// "+++ b/job/train.py": the path without the letter that `patch -p1` takes off.
std::string file_of(std::string_view diff) {
  constexpr std::string_view kMark = "\n+++ ";
  const std::size_t at = diff.find(kMark);
  if (at == std::string_view::npos) return {};
  std::string_view name = diff.substr(at + kMark.size());
  name = name.substr(0, name.find_first_of("\t\n"));
  if (name.starts_with("b/")) name.remove_prefix(2);
  return std::string(name);
}

NamedChange of_sentence(const std::string& sentence, const std::string& folder) {
  NamedChange change;
  change.sentence = relative_paths(sentence, folder);
  change.command = command_in(change.sentence);
  change.copied = change.command;
  return change;
}

NamedChange of_remedy(const advise::Remedy& remedy, const std::string& folder) {
  if (remedy.edit.empty()) return of_sentence(remedy.how, folder);
  NamedChange change;
  change = of_sentence(remedy.beside_edit, folder);
  change.lines = relative_paths(remedy.edit, folder);
  if (change.lines.back() != '\n') change.lines += '\n';
  if (change.command.empty()) change.copied = change.lines;
  return change;
}

NamedChange of_trial(const Report& report, const Verification& tried) {
  if (!tried.diff.empty()) {
    NamedChange change;
    change.lines = lines_that_change(tried.diff);
    change.file = file_of(tried.diff);
    change.copied = tried.diff;
    return change;
  }
  if (!tried.permanent.empty()) return of_sentence(tried.permanent, report.facts.folder);
  const advise::Remedy* const remedy = report.advice.find_offered(tried.remedy);
  return remedy == nullptr ? NamedChange() : of_remedy(*remedy, report.facts.folder);
}

}  // namespace

NamedChange change_of(const Report& report) {
  if (const Verification* const tried = best_verified(report.verification)) {
    return tried->outcome == trial::Outcome::kKept ? of_trial(report, *tried) : NamedChange();
  }
  const std::optional<advise::Remedy>& next = report.advice.next_remedy;
  return next ? of_remedy(*next, report.facts.folder) : NamedChange();
}

}  // namespace unstarve::report
