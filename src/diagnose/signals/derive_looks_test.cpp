#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "diagnose/signals/conditions.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {
namespace {

HostSignals looked_at() {
  HostSignals host;
  host.fetch_looks_on_cpu = 10;
  host.fetch_looks_in_files = 60;
  host.fetch_looks_in_network = 15;
  host.fetch_looks_asleep = 5;
  host.fetch_looks_in_locks = 8;
  host.fetch_looks_elsewhere = 2;
  return host;
}

Signals derive(const HostSignals& host) {
  Signals signals;
  derive_host_signals(host, signals);
  return signals;
}

TEST(FetchLooks, BecomeSharesOfAll) {
  const Signals signals = derive(looked_at());
  EXPECT_DOUBLE_EQ(*signals.fetch_in_files_ratio, 0.6);
  EXPECT_DOUBLE_EQ(*signals.fetch_in_network_ratio, 0.15);
  EXPECT_DOUBLE_EQ(*signals.fetch_asleep_ratio, 0.05);
  EXPECT_DOUBLE_EQ(*signals.fetch_in_locks_ratio, 0.08);
  EXPECT_DOUBLE_EQ(*storage_wait_ratio(signals), 0.8);
}

TEST(FetchLooks, ThatAreFewSayNothing) {
  HostSignals host = looked_at();
  host.fetch_looks_in_files = 1;
  host.fetch_looks_in_network = 0;
  host.fetch_looks_in_locks = 0;
  EXPECT_EQ(derive(host).fetch_in_files_ratio.why_absent(), WhyAbsent::kNotObserved);
  host.fetch_looks_in_files = 3;
  EXPECT_TRUE(derive(host).fetch_in_files_ratio) << "twenty do";
}

TEST(FetchLooks, ThatNobodyMightTakeKeepTheirReason) {
  HostSignals host;
  host.fetch_looks_in_files = WhyAbsent::kNoPermission;
  const Signals signals = derive(host);
  EXPECT_EQ(signals.fetch_in_files_ratio.why_absent(), WhyAbsent::kNoPermission);
  EXPECT_EQ(storage_wait_ratio(signals).why_absent(), WhyAbsent::kNoPermission);
  EXPECT_FALSE(fetches_wait_for_storage(signals));
}

/// Of thirty looks at fetches, a third of them at each of these stacks.
Signals of_looks(std::vector<trace::Stack> stacks, job::LoaderUse loader) {
  trace::Timeline timeline;
  timeline.stacks = std::move(stacks);
  for (trace::Stack& stack : timeline.stacks) stack.in_fetch = true;
  for (std::uint32_t i = 0; i < 30; ++i) timeline.stack_samples.push_back({i, 7, 7, 1, 0, i % 3});
  loader.fetches.emplace_back().when = {0, 30};
  loader.fetches.back().process = 7;
  loader.fetches.back().thread = 7;
  Signals signals;
  derive_fetch_looks(timeline, loader, signals);
  return signals;
}

/// Two thirds of the looks are inside `rows`.
Reading<double> skipped_ratio(std::int64_t workers, std::vector<std::string> makers) {
  std::vector<trace::Stack> stacks(3);
  stacks[0].function = "rows";
  stacks[1].function = "decode";
  stacks[1].callers = {"row", "rows"};
  stacks[2].function = "augment";
  job::LoaderUse loader;
  loader.config.emplace().num_workers = workers;
  loader.config->data.skipped_made_by = std::move(makers);
  return of_looks(std::move(stacks), std::move(loader)).fetch_skipped_ratio;
}

TEST(FetchLooks, TellHowMuchIsMadeForOtherWorkers) {
  EXPECT_DOUBLE_EQ(skipped_ratio(4, {"rows"}).value_or(0), 2.0 / 3 * 3 / 4);
  EXPECT_DOUBLE_EQ(skipped_ratio(2, {"files", "decode"}).value_or(0), 1.0 / 3 / 2);
  EXPECT_FALSE(skipped_ratio(1, {"rows"})) << "all are its own";
  EXPECT_FALSE(skipped_ratio(4, {}));
  EXPECT_FALSE(skipped_ratio(4, {"files"}));
}

Reading<double> opened_images_ratio(std::vector<trace::Stack> stacks) {
  return of_looks(std::move(stacks), {}).fetch_opened_images_ratio;
}

TEST(FetchLooks, TellWhichImagesADataSetOpensAndGivesToAComposition) {
  trace::Stack opening;
  opening.in_decode = opening.in_jpeg = true;
  opening.line = "train.py:9";
  opening.callee = "PIL/Image.py convert";
  trace::Stack cropping;
  cropping.line = "train.py:10";
  cropping.call = "self.transform(image)";
  cropping.callee = "torchvision/transforms/transforms.py __call__";
  cropping.transform = "RandomResizedCrop";
  trace::Stack other;
  other.line = "train.py:11";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({opening, cropping, other}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(*opened_images_ratio({opening, other, other}), 0) << "nobody transforms it";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({cropping, other, other}), 0) << "nobody opens it";
  trace::Stack module = cropping;
  module.callee = "torch/nn/modules/module.py _wrapped_call_impl";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({opening, module, other}), 2.0 / 3);
  trace::Stack by_hand;
  by_hand.line = "train.py:10";
  by_hand.callee = "torchvision/transforms/functional.py resize";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({opening, by_hand, other}), 2.0 / 3);
  trace::Stack unknown = cropping;
  unknown.transform = "ElasticTransform";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({opening, cropping, unknown}), 2.0 / 3);
  trace::Stack tiff = opening;
  tiff.in_jpeg = false;
  EXPECT_DOUBLE_EQ(*opened_images_ratio({tiff, cropping, other}), 0);
  trace::Stack png = tiff;
  png.in_png = true;
  EXPECT_DOUBLE_EQ(*opened_images_ratio({png, cropping, other}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(*opened_images_ratio({png, other, other}), 1.0 / 3) << "a mask, say";
  trace::Stack of_library;
  of_library.in_decode = of_library.in_jpeg = true;
  trace::Stack its_transform;
  its_transform.transform = "ToTensor";
  EXPECT_DOUBLE_EQ(*opened_images_ratio({of_library, its_transform, other}), 2.0 / 3);
}

TEST(FetchesWaitForStorage, WhereTheyLeaveTheCpusAlone) {
  Signals signals = derive(looked_at());
  EXPECT_FALSE(fetches_wait_for_storage(signals)) << "of their CPU time nothing is known";
  signals.fetch_cpu_ratio = 0.1;
  EXPECT_TRUE(fetches_wait_for_storage(signals));
  signals.cpu_use_ratio = 0.95;
  EXPECT_FALSE(fetches_wait_for_storage(signals)) << "others use the CPUs";
  signals.cpu_use_ratio = 0.2;
  signals.fetch_cpu_ratio = 0.7;
  EXPECT_FALSE(fetches_wait_for_storage(signals));
}

}  // namespace
}  // namespace unstarve::diagnose
