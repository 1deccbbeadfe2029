#include "advise/known_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "advise/catalogue.h"
#include "predict/what_if.h"

namespace unstarve::advise {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> offered(const diagnose::Signals& signals) {
  std::vector<std::string> ids;
  for (const Remedy& remedy : offers({signals, {}}, {"input_wait", "python_transform"})) {
    ids.push_back(remedy.id);
  }
  return ids;
}

TEST(KnownWork, HasARemedyOfItsOwnWhereItIsMuchOfAFetch) {
  const std::vector<std::pair<diagnose::Signal, std::string>> works = {
      {&diagnose::Signals::fetch_tokenizing_ratio, "tokens_beforehand"},
      {&diagnose::Signals::fetch_table_rows_ratio, "arrays_for_rows"},
      {&diagnose::Signals::fetch_sound_ratio, "features_beforehand"},
      {&diagnose::Signals::fetch_array_files_ratio, "chunks_of_samples"},
      {&diagnose::Signals::fetch_opening_ratio, "kept_file"},
      {&diagnose::Signals::fetch_connecting_ratio, "kept_connection"},
      {&diagnose::Signals::fetch_queries_ratio, "query_for_a_batch"},
      {&diagnose::Signals::fetch_parsing_ratio, "parsed_beforehand"},
      {&diagnose::Signals::fetch_video_ratio, "frames_beforehand"},
      {&diagnose::Signals::fetch_decompressing_ratio, "stored_uncompressed"},
  };
  for (const auto& [share, id] : works) {
    diagnose::Signals signals;
    EXPECT_THAT(offered(signals), Contains("cheaper_transforms"));
    signals.*share = 0.29;
    EXPECT_THAT(offered(signals), Not(Contains(id)));
    signals.*share = 0.62;
    const std::vector<std::string> ids = offered(signals);
    EXPECT_THAT(ids, Contains(id));
    EXPECT_THAT(ids, Not(Contains("cheaper_transforms"))) << id;
    for (const Remedy& remedy : offers({signals, {}}, {"input_wait"})) {
      if (remedy.id != id) continue;
      EXPECT_THAT(remedy.how, HasSubstr("62 % of making a batch"));
    }
  }
}

TEST(KnownWork, OfALanguageModelThatWritesIsGivenACacheOfOneSize) {
  diagnose::Signals signals;
  signals.launches_per_step = 800;
  const auto how = [&signals] {
    for (const Remedy& remedy : offers({signals, {}}, {"launch"})) {
      if (remedy.id == "cuda_graphs_or_compile") return remedy.how;
    }
    return std::string();
  };
  EXPECT_THAT(how(), HasSubstr("torch.compile(model"));
  signals.generating_ratio = 0.9;
  EXPECT_THAT(how(), HasSubstr("cache_implementation='static'"));
}

/// A job without workers: of each step of 100 ms it fetches for 80.
PredictionBasis fetching_itself(double cpu_s, double blocked_s) {
  PredictionBasis basis;
  predict::MeasuredStep step;
  step.step_s = 0.02 + cpu_s + blocked_s;
  step.wait_s = cpu_s + blocked_s;
  step.fetch_cpu_s = cpu_s;
  step.fetch_blocked_s = blocked_s;
  step.samples = 32;
  basis.pipeline.steps.assign(50, step);
  basis.pipeline.loader_known = true;
  return basis;
}

Remedy with_share(const diagnose::Signals& signals, std::string_view id) {
  for (Remedy& remedy : offers({signals, {}}, {"input_wait"})) {
    if (remedy.id == id) return remedy;
  }
  return {};
}

TEST(KnownWork, GainsWhatItsShareOfTheFetchesTakes) {
  diagnose::Signals signals;
  signals.fetch_tokenizing_ratio = 0.5;
  const Remedy remedy = with_share(signals, "tokens_beforehand");
  const CatalogueEntry& entry = *find_entry("tokens_beforehand");
  const PredictionBasis basis = fetching_itself(0.08, 0);
  const auto edit = entry.model(remedy, basis);
  ASSERT_TRUE(edit);
  const auto gain = predict::predict_speedup(basis.pipeline, *edit, {});
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->speedup, 100.0 / 61.6, 0.05);  // half of 80 ms, less 4 % that stays
  EXPECT_LT(gain->low, 1.55);
  EXPECT_GT(gain->high, 1.68);
}

TEST(KnownWork, OfSamplesThatDrawNothingMayGainAllButCollating) {
  diagnose::Signals signals;
  JobFacts job;
  signals.fetch_tokenizing_ratio = 0.5;
  signals.collate_ratio = 0.1;
  const PredictionBasis basis = fetching_itself(0.08, 0);
  const auto most = [&signals, &job, &basis] {
    for (const Remedy& remedy : offers({signals, job}, {"input_wait"})) {
      if (remedy.id != "tokens_beforehand") continue;
      return 1 - find_entry(remedy.id)->model(remedy, basis)->fetch_scale.low;
    }
    return 0.0;
  };
  EXPECT_NEAR(most(), 0.58, 0.001);  // whether they draw is not known
  job.data.draws = true;
  EXPECT_NEAR(most(), 0.58, 0.001);
  job.data.draws = false;
  EXPECT_NEAR(most(), 0.9, 0.001);
}

TEST(KnownWork, LightensReadsOfAFileThatStaysOpen) {
  diagnose::Signals signals;
  signals.fetch_opening_ratio = 0.4;
  signals.fetch_array_files_ratio = 0.25;
  const Remedy remedy = with_share(signals, "kept_file");
  const auto edit = find_entry("kept_file")->model(remedy, fetching_itself(0.08, 0));
  EXPECT_NEAR(edit->fetch_scale.low, 0.39, 0.001);
  EXPECT_NEAR(edit->fetch_scale.high, 1 - 0.8 * 0.32, 0.01);  // whole percents
}

TEST(KnownWork, OfLargeImagesIsAskedWhetherTheDecoderMayMakeThemSmaller) {
  diagnose::Signals signals;
  JobFacts job;
  const auto asks = [&signals, &job] {
    for (const Remedy& remedy : offers({signals, job}, {"input_wait", "decode_cpu"})) {
      if (remedy.id == "reduced_decode") return true;
    }
    return false;
  };
  signals.decode_ratio = 0.6;
  EXPECT_FALSE(asks()) << "nothing is resized";
  signals.fetch_resizing_ratio = 0.05;
  EXPECT_TRUE(asks());
  signals.fetch_resizing_ratio = 0;
  job.data.transforms = {"Resize(size=256, interpolation=bilinear)", "ToTensor()"};
  EXPECT_TRUE(asks());
  signals.decode_ratio = 0.2;
  EXPECT_FALSE(asks());
  signals.fetch_resizing_ratio = 0.4;
  EXPECT_TRUE(asks()) << "fewer pixels are resized, too";
}

TEST(KnownWork, OfImagesThatMayBeDecodedSmallerNothingElseIsSaid) {
  diagnose::Signals signals;
  signals.fetch_resizing_ratio = 0.4;
  const auto offered = [&signals] {
    std::vector<std::string> ids;
    for (const Remedy& remedy : offers({signals, JobFacts()}, {"python_transform"})) {
      ids.push_back(remedy.id);
    }
    return ids;
  };
  signals.decode_ratio = 0.1;
  EXPECT_EQ(offered(), std::vector<std::string>{"cheaper_transforms"});
  signals.decode_ratio = 0.3;
  EXPECT_EQ(offered(), std::vector<std::string>{"reduced_decode"});
}

TEST(KnownWork, GainsItsShareOfWaitingToo) {
  diagnose::Signals signals;
  signals.fetch_connecting_ratio = 0.9;
  const Remedy remedy = with_share(signals, "kept_connection");
  const PredictionBasis basis = fetching_itself(0.02, 0.06);
  const auto edit = find_entry("kept_connection")->model(remedy, basis);
  const auto gain = predict::predict_speedup(basis.pipeline, *edit, {});
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->speedup, 100.0 / (20 + 80 * 0.19), 0.15);
}

TEST(KnownWork, InTheCollateFunctionIsNotKeptWithSamples) {
  diagnose::Signals signals;
  signals.fetch_tokenizing_ratio = 0.9;
  EXPECT_THAT(with_share(signals, "tokens_beforehand").how, HasSubstr("unstarve.cached(dataset)"));
  signals.collating_work_ratio = 0.9;
  const Remedy remedy = with_share(signals, "tokens_beforehand");
  EXPECT_THAT(remedy.how, Not(HasSubstr("unstarve.cached(dataset)")));
  EXPECT_THAT(remedy.how, HasSubstr("batched=True)`): 90 % of making"));
  signals.fetch_tokenizing_ratio = signals.collating_work_ratio = 0.6;
  signals.fetch_collating_ratio = 0.9;
  const auto edit = find_entry("tokens_beforehand")
                        ->model(with_share(signals, "tokens_beforehand"), fetching_itself(0.08, 0));
  EXPECT_NEAR(edit->fetch_scale.low, 0.1, 0.01)
      << "what else is in the collate function may go too";
  EXPECT_NEAR(edit->fetch_scale.high, 1 - 0.52 * 0.9 * 0.75, 0.01);
}

}  // namespace
}  // namespace unstarve::advise
