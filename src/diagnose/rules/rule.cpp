#include "diagnose/rules/all_rules.h"

namespace unstarve::diagnose {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> kRules = list_rules();
  return kRules;
}

RuleAnswer ask(const Rule& rule, const Signals& signals) {
  for (const Signal signal : rule.needs) {
    const Reading<double>& reading = signals.*signal;
    if (reading) continue;
    return {{},
            Abstention{std::string(rule.name), std::string(name_of(signal)), reading.why_absent()}};
  }
  return {rule.evaluate(signals), {}};
}

}  // namespace unstarve::diagnose
