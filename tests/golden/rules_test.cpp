// Every rule against its golden cases in tests/golden/rules/<rule>/cases.json: given signals, what
// it claims, or that it stays silent, and which remedies are offered for it. A rule without cases
// fails, and so does one that speaks although a signal that it needs is absent.

#include "diagnose/rules/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "advise/catalogue.h"
#include "diagnose/rules/all_rules.h"

namespace unstarve::diagnose {
namespace {

using Json = nlohmann::json;

Signals make_signals(const Json& values) {
  Signals signals;
  for (const auto& [name, value] : values.items()) {
    bool known = false;
    for (const SignalField& field : signal_fields()) {
      if (field.name != name) continue;
      signals.*(field.signal) = value.get<double>();
      known = true;
    }
    EXPECT_TRUE(known) << "no signal is called " << name;
  }
  return signals;
}

advise::JobFacts make_job(const Json& names) {
  advise::JobFacts job;
  if (names.contains("stream")) {
    job.data.class_name = names["stream"].get<std::string>();
    job.data.is_stream = true;
  }
  if (names.contains("draws_nothing")) {
    job.data.class_name = names["draws_nothing"].get<std::string>();
    job.data.draws = false;
  }
  if (names.contains("data_set")) job.data.class_name = names["data_set"].get<std::string>();
  if (!names.contains("image_folder")) return job;
  const std::string name = "torchvision.datasets.folder.ImageFolder";
  job.data = {name, name, names["image_folder"].get<std::string>()};
  return job;
}

void expect_claim(const Claim& claim, const Json& expected) {
  if (expected.contains("weight")) {
    EXPECT_NEAR(claim.weight, expected["weight"].get<double>(), 1e-9);
  }
  EXPECT_THAT(claim.evidence,
              testing::Contains(testing::HasSubstr(expected["evidence"].get<std::string>())));
}

void expect_remedies(const Rule& rule, const advise::Situation& situation, const Json& expected) {
  std::vector<std::string> remedies;
  for (const advise::Remedy& remedy : advise::offers(situation, {std::string(rule.name)})) {
    remedies.push_back(remedy.id);
    EXPECT_FALSE(remedy.how.empty()) << remedy.id;
    EXPECT_FALSE(remedy.predicted) << remedy.id << " has not been predicted";
  }
  EXPECT_EQ(remedies, expected["remedies"].get<std::vector<std::string>>());
}

void expect_abstention_without(const Rule& rule, Signals signals, Signal needed) {
  signals.*needed = WhyAbsent::kNoPermission;
  const RuleAnswer answer = ask(rule, signals);
  EXPECT_FALSE(answer.claim) << name_of(needed);
  ASSERT_TRUE(answer.abstention) << name_of(needed);
  EXPECT_EQ(answer.abstention->rule, rule.name);
  EXPECT_EQ(answer.abstention->signal, name_of(needed));
  EXPECT_EQ(answer.abstention->why, WhyAbsent::kNoPermission);
}

class GoldenRule : public testing::TestWithParam<std::size_t> {};

TEST_P(GoldenRule, SaysWhatItsCasesSay) {
  const Rule& rule = all_rules()[GetParam()];
  const std::string path = std::string(UNSTARVE_SOURCE_DIR) + "/tests/golden/rules/" +
                           std::string(rule.name) + "/cases.json";
  std::ifstream file(path);
  ASSERT_TRUE(file) << "no golden cases: " << path;
  int spoken = 0;
  int silent = 0;
  for (const Json& item : Json::parse(file)) {
    SCOPED_TRACE(item["name"].get<std::string>());
    const Signals signals = make_signals(item["signals"]);
    const advise::JobFacts job = make_job(item.value("names", Json::object()));
    const RuleAnswer answer = ask(rule, signals);
    EXPECT_FALSE(answer.abstention) << answer.abstention->signal;
    const bool expects_silence = item["expect"].contains("silent");
    ASSERT_EQ(answer.claim.has_value(), !expects_silence);
    ++(expects_silence ? silent : spoken);
    if (!expects_silence) {
      expect_claim(*answer.claim, item["expect"]);
      expect_remedies(rule, {signals, job}, item["expect"]);
    }
    for (const Signal needed : rule.needs) expect_abstention_without(rule, signals, needed);
  }
  EXPECT_GT(spoken, 0);
  EXPECT_GT(silent, 0);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRule, testing::Range<std::size_t>(0, all_rules().size()),
                         [](const auto& rule) {
                           return std::string(all_rules()[rule.param].name);
                         });

std::set<std::string> remedies_of_cases(const std::string& rule) {
  std::ifstream file(std::string(UNSTARVE_SOURCE_DIR) + "/tests/golden/rules/" + rule +
                     "/cases.json");
  std::set<std::string> ids;
  for (const Json& item : Json::parse(file)) {
    for (const Json& id : item["expect"].value("remedies", Json::array())) ids.insert(id);
  }
  return ids;
}

TEST(AllRemedies, AreOfferedInSomeGoldenCase) {
  std::set<std::string> seen;
  for (const Rule& rule : all_rules()) seen.merge(remedies_of_cases(std::string(rule.name)));
  for (const advise::CatalogueEntry& entry : advise::catalogue()) {
    EXPECT_EQ(seen.count(entry.id), 1U) << entry.id << " is in no case of tests/golden/rules";
  }
}

TEST(AllRules, HaveNamesOfTheirOwnAndNeedSomething) {
  std::set<std::string_view> names;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.needs.empty()) << rule.name;
    const bool is_of_all = rule.kind == RuleKind::kHint || rule.kind == RuleKind::kCondition;
    EXPECT_EQ(is_of_all, rule.cause.empty()) << rule.name;
    EXPECT_EQ(rule.kind == RuleKind::kHint, !rule.cannot_tell.empty()) << rule.name;
  }
}

}  // namespace
}  // namespace unstarve::diagnose
