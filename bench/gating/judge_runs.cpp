// Judges gates whose runs are given, as `unstarve gate` would: it looks after each pair and ends
// when that decides. Reads JSON lines {"a": [{measure: value}...], "b": [...]} from standard input,
// and writes a line for each: {"decision", "runs", "regressed": [measures]}.

#include <cstddef>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gate/judging/judgement.h"

namespace {

using unstarve::gate::Judgement;
using unstarve::gate::RunValues;

std::vector<RunValues> runs_of(const nlohmann::json& side) {
  std::vector<RunValues> runs;
  for (const nlohmann::json& run : side) runs.push_back(run.get<RunValues>());
  return runs;
}

}  // namespace

int main() {
  const unstarve::gate::JudgingOptions options;
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json gate = nlohmann::json::parse(line);
    const std::vector<RunValues> all_a = runs_of(gate.at("a"));
    const std::vector<RunValues> all_b = runs_of(gate.at("b"));
    std::vector<RunValues> a, b;
    Judgement judgement;
    while (!judgement.is_final) {
      a.push_back(all_a.at(a.size()));
      b.push_back(all_b.at(b.size()));
      const bool spent =
          a.size() == all_a.size() || a.size() == static_cast<std::size_t>(options.runs_max);
      judgement = unstarve::gate::judge(a, b, options, spent);
    }
    nlohmann::json regressed = nlohmann::json::array();
    for (const auto& measure : judgement.measures) {
      if (measure.state == unstarve::gate::MeasureState::kRegressed)
        regressed.push_back(measure.id);
    }
    std::cout << nlohmann::json{{"decision", std::string(to_string(judgement.decision))},
                                {"runs", a.size()},
                                {"regressed", std::move(regressed)}}
              << "\n";
  }
  return 0;
}
