#include <gtest/gtest.h>

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
