#include "runs/run_summary.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "trace/json/json_text.h"

namespace unstarve::runs {

const trace::FindingRow* leading_finding(const CollectedRun& run) {
  const trace::FindingRow* leading = nullptr;
  for (const trace::FindingRow& finding : run.findings) {
    if (run.summary.leading_finding && finding.index == *run.summary.leading_finding) {
      return &finding;
    }
    if (leading == nullptr || finding.share > leading->share) leading = &finding;
  }
  return leading;
}

std::vector<std::string> command_of(const RunSummary& run) {
  std::vector<std::string> words;
  const auto json = trace::parse_json(run.command_json);
  if (!json.is_array()) return words;
  for (const auto& word : json) {
    if (word.is_string()) words.push_back(word);
  }
  return words;
}

std::vector<std::string> tags_of(const RunSummary& run) {
  std::istringstream text(run.tags);
  std::vector<std::string> tags;
  for (std::string tag; text >> tag;) tags.push_back(tag);
  return tags;
}

std::string group_of(const RunSummary& run) {
  const std::size_t slash = run.name.find('/');
  return slash == run.name.npos ? std::string() : run.name.substr(0, slash);
}

}  // namespace unstarve::runs
