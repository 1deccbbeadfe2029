#include "cli/options/isolation_options.h"

#include "cli/console/terminal.h"
#include "report/tried/isolation_words.h"

namespace unstarve::cli {

std::vector<Option> add_isolation_options(Command& command, isolation::IsolationWish& wish) {
  return {command.flag("--in-place", wish.in_place,
                       "let trials write where the job writes; else what they write is dropped, "
                       "and nothing that was there before is changed"),
          command.flag("--online", wish.online,
                       "let trials report to experiment trackers (W&B, MLflow, Comet, ...)")};
}

void say_isolated(const isolation::Isolation& by) { say(report::isolation_sentence(by)); }

}  // namespace unstarve::cli
