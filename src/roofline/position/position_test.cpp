#include "roofline/position/position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

UsedRoof roof(double value, RoofSource source = RoofSource::kMeasured) {
  return {"roof", value, "flop/s", source};
}

/// 10 ms a step: 0.3 TFLOP of bfloat16 and 0.01 of float32, 4 GB, 100 MB, 200 launches, 16 ms of
/// CPU time on 4 CPUs.
StepWork work() {
  StepWork work;
  work.step_s = 0.010;
  work.device_s = 0.009;
  work.h2d_bytes = 100e6;
  work.launches = 200.0;
  work.graph_nodes = 0.0;
  work.loader_cpu_s = 0.016;
  work.cores = 4.0;
  work.flops.device = "cuda";
  work.flops.by_dtype = {{"bfloat16", 0.3e12}, {"float32", 0.01e12}};
  work.flops.operand_bytes = 5e9;
  work.flops.beyond_cache_bytes = 4e9;
  return work;
}

KnownRoofs roofs() {
  KnownRoofs roofs;
  roofs.products = {{"bfloat16", roof(100e12)}, {"float32", roof(10e12)}};
  roofs.product_specs = {{"bfloat16", roof(300e12, RoofSource::kSpecification)},
                         {"float32", roof(20e12, RoofSource::kSpecification)}};
  roofs.memory = roof(1e12);
  roofs.h2d = roof(20e9);
  roofs.launches = roof(200e3);
  roofs.measured = true;
  return roofs;
}

Position placed(const StepWork& work, const KnownRoofs& roofs) {
  const auto position = place(work, roofs, {.name = "GPU"});
  EXPECT_TRUE(position);
  return position.value_or(Position{});
}

const Term& term(const Position& position, const std::string& name) {
  static const Term kNone;
  for (const Term& each : position.terms) {
    if (each.name == name) return each;
  }
  return kNone;
}

TEST(Position, EachTermIsItsAmountUnderItsRoof) {
  const Position position = placed(work(), roofs());
  // 0.3 / 100 + 0.01 / 10 = 4 ms; 4 GB / 1 TB/s; 100 MB / 20 GB/s; 200 / 200 k; 16 ms / 4.
  EXPECT_NEAR(term(position, "compute").least_s, 0.004, 1e-9);
  EXPECT_NEAR(term(position, "compute").share, 0.4, 1e-6);
  EXPECT_NEAR(term(position, "compute").roof.value, 0.31e12 / 0.004, 1);
  EXPECT_NEAR(term(position, "memory").least_s, 0.004, 1e-9);
  EXPECT_NEAR(term(position, "h2d").least_s, 0.005, 1e-9);
  EXPECT_NEAR(term(position, "launches").least_s, 0.001, 1e-9);
  EXPECT_NEAR(term(position, "loader").least_s, 0.004, 1e-9);
  ASSERT_TRUE(position.bound);
  EXPECT_EQ(position.terms[*position.bound].name, "h2d");
}

TEST(Position, UtilizationWeighsEachDtypeByItsOwnPeak) {
  const Position position = placed(work(), roofs());
  // 0.3 / 300 + 0.01 / 20 = 1.5 ms of 10 ms.
  EXPECT_NEAR(position.of_specification.ratio, 0.15, 1e-9);
  EXPECT_NEAR(position.of_measured.ratio, 0.4, 1e-9);
  EXPECT_NEAR(position.flop_per_s.value_or(0), 31e12, 1e3);
  EXPECT_NEAR(position.flop_per_byte.value_or(0), 62, 1e-6);
  EXPECT_FALSE(position.flops_at_least);
}

TEST(Position, WhatIsAboveItsRoofIsRefused) {
  StepWork much = work();
  much.flops.by_dtype = {{"bfloat16", 1.5e12}};  // 15 ms under 100 TFLOP/s
  const Position position = placed(much, roofs());
  EXPECT_THAT(term(position, "compute").why_absent,
              HasSubstr("refused as wrong: it comes to 150 %"));
  EXPECT_THAT(position.of_measured.why_absent, HasSubstr("refused as wrong: 150 %"));
  EXPECT_NEAR(position.of_specification.ratio, 0.5, 1e-9) << "that roof is higher";
  EXPECT_FALSE(position.flop_per_s);
  ASSERT_TRUE(position.bound);
  EXPECT_EQ(position.terms[*position.bound].name, "h2d");
}

TEST(Position, OneRoofOfADataSheetMakesItTheSourceOfTheWhole) {
  KnownRoofs mixed = roofs();
  for (const char* of_data_sheet : {"bfloat16", "float32"}) {
    mixed.products = roofs().products;
    mixed.products.at(of_data_sheet).source = RoofSource::kSpecification;
    EXPECT_EQ(term(placed(work(), mixed), "compute").roof.source, RoofSource::kSpecification)
        << of_data_sheet;
  }
}

TEST(Position, WithoutMeasuredRoofsTheDataSheetsStandIn) {
  KnownRoofs spec = roofs();
  spec.products.clear();
  spec.memory.reset();
  spec.memory_spec = roof(2e12, RoofSource::kSpecification);
  spec.h2d.reset();
  spec.launches.reset();
  const Position position = placed(work(), spec);
  EXPECT_EQ(term(position, "compute").roof.source, RoofSource::kSpecification);
  EXPECT_NEAR(term(position, "compute").least_s, 0.0015, 1e-9);
  EXPECT_EQ(term(position, "memory").roof.source, RoofSource::kSpecification);
  EXPECT_THAT(term(position, "h2d").why_absent, HasSubstr("`unstarve roofline`"));
  EXPECT_THAT(term(position, "launches").why_absent, HasSubstr("`unstarve roofline`"));
  EXPECT_THAT(position.of_measured.why_absent, HasSubstr("is not known"));
}

TEST(Position, WhatWasNotSeenIsAbsentWithItsReason) {
  StepWork little;
  little.step_s = 0.01;
  const Position position = placed(little, roofs());
  EXPECT_THAT(term(position, "compute").why_absent, HasSubstr("--flops"));
  EXPECT_THAT(term(position, "memory").why_absent, HasSubstr("--flops"));
  EXPECT_THAT(term(position, "h2d").why_absent, HasSubstr("no GPU activity"));
  EXPECT_THAT(term(position, "loader").why_absent, HasSubstr("CPU time"));
  EXPECT_FALSE(position.bound);
  EXPECT_FALSE(place(StepWork{}, roofs(), {})) << "no step";
  little.flops.refused = "the job was profiling itself";
  EXPECT_THAT(term(placed(little, roofs()), "compute").why_absent, HasSubstr("profiling itself"));
  little.flops = work().flops;
  little.flops.by_dtype["float64"] = 1e9;
  EXPECT_THAT(term(placed(little, roofs()), "compute").why_absent, HasSubstr("float64"));
}

TEST(Position, WhereTheHostRunsAheadTheDevicesTimeCounts) {
  StepWork ahead = work();
  ahead.device_s = 0.020;
  const Position position = placed(ahead, roofs());
  EXPECT_NEAR(position.step_s, 0.020, 1e-9);
  EXPECT_NEAR(term(position, "compute").share, 0.2, 1e-6);
  ASSERT_EQ(position.notes.size(), 1U);
  EXPECT_THAT(position.notes[0], HasSubstr("20 ms on the GPU"));
}

TEST(Position, WhatGraphsReplayIsNotCountedAndSaid) {
  StepWork graphs = work();
  graphs.graph_nodes = 300.0;
  KnownRoofs known = roofs();
  known.graph_nodes = roof(1e6);
  const Position position = placed(graphs, known);
  EXPECT_TRUE(position.flops_at_least);
  EXPECT_NEAR(term(position, "launches").least_s, 0.0013, 1e-9);
  ASSERT_EQ(position.notes.size(), 1U);
  EXPECT_THAT(position.notes[0], HasSubstr("CUDA graphs"));
}

/// 1 s a step of a CPU with 2 threads: 60 GFLOP under 100 GFLOP/s, 5 GB under 20 GB/s, 0.4 s of CPU
/// time for loading.
StepWork cpu_work() {
  StepWork work;
  work.step_s = 1.0;
  work.loader_cpu_s = 0.4;
  work.cores = 2.0;
  work.flops.device = "cpu";
  work.flops.by_dtype = {{"float32", 60e9}};
  work.flops.operand_bytes = 8e9;
  work.flops.beyond_cache_bytes = 5e9;
  work.flops.cache_bytes = 34e6;
  work.flops.threads = 2;
  return work;
}

KnownRoofs cpu_roofs() {
  KnownRoofs roofs;
  roofs.products = {{"float32", roof(100e9)}};
  roofs.memory = roof(20e9);
  roofs.product_threads = 2;
  return roofs;
}

Position placed_on_cpu(const StepWork& work, const KnownRoofs& roofs) {
  const auto position = place(work, roofs, {.name = "CPU", .is_cpu = true});
  EXPECT_TRUE(position);
  return position.value_or(Position{});
}

TEST(CpuPosition, HasNoGpusTermsAndSaysSo) {
  const Position position = placed_on_cpu(cpu_work(), cpu_roofs());
  EXPECT_NEAR(term(position, "compute").share, 0.6, 1e-9);
  EXPECT_NEAR(term(position, "memory").share, 0.25, 1e-9);
  EXPECT_NEAR(term(position, "loader").share, 0.2, 1e-9);
  EXPECT_EQ(term(position, "h2d").why_absent, "the job trains on the CPU");
  EXPECT_EQ(term(position, "launches").why_absent, "the job trains on the CPU");
  EXPECT_NEAR(position.of_measured.ratio, 0.6, 1e-9);
  EXPECT_EQ(position.of_specification.why_absent, "the CPU's peak of float32 is not known");
  EXPECT_NEAR(position.flop_per_byte.value_or(0), 7.5, 1e-9);
  ASSERT_TRUE(position.bound);
  EXPECT_EQ(position.terms[*position.bound].name, "compute");
  ASSERT_EQ(position.notes.size(), 1U);
  EXPECT_THAT(position.notes[0], HasSubstr("together are 80.0 % of a step"));
}

TEST(CpuPosition, OperationsOfAnotherDeviceAreNotItsOwn) {
  StepWork work = cpu_work();
  EXPECT_THAT(term(placed(work, roofs()), "compute").why_absent, HasSubstr("ran on the CPU"));
  work.flops.device = "cuda";
  EXPECT_THAT(term(placed_on_cpu(work, cpu_roofs()), "compute").why_absent, HasSubstr("--flops"));
  work.flops.device = "cpu";
  work.flops.by_dtype.clear();
  EXPECT_THAT(term(placed_on_cpu(work, cpu_roofs()), "compute").why_absent,
              HasSubstr("no product of matrices"));
}

TEST(CpuPosition, WhatIsAboveItsRoofIsRefused) {
  StepWork work = cpu_work();
  work.step_s = 0.5;
  const Position position = placed_on_cpu(work, cpu_roofs());
  EXPECT_THAT(term(position, "compute").why_absent, HasSubstr("refused as wrong: it comes to 120"));
  EXPECT_THAT(position.of_measured.why_absent, HasSubstr("refused as wrong"));
  EXPECT_FALSE(position.flop_per_s);
  EXPECT_TRUE(position.notes.empty());
}

TEST(CpuPosition, WhereTheCachesHoldEverythingTheMemoryHasNoBound) {
  StepWork work = cpu_work();
  work.flops.beyond_cache_bytes = 0;
  EXPECT_THAT(term(placed_on_cpu(work, cpu_roofs()), "memory").why_absent,
              HasSubstr("the CPU's caches hold (34 MB)"));
  work.flops.beyond_cache_bytes = WhyAbsent::kNotObserved;
  EXPECT_THAT(term(placed_on_cpu(work, cpu_roofs()), "memory").why_absent,
              HasSubstr("does not say how large the CPU's caches are"));
}

TEST(CpuPosition, FewerThreadsThanTheRoofsAreSaid) {
  StepWork work = cpu_work();
  work.flops.threads = 1;
  work.loader_cpu_s = WhyAbsent::kNotObserved;
  const Position position = placed_on_cpu(work, cpu_roofs());
  ASSERT_EQ(position.notes.size(), 1U);
  EXPECT_THAT(position.notes[0], HasSubstr("computes with 1 of the 2 threads"));
}

TEST(CpuPosition, RoofsThatOthersDisturbedAreSaidToBeLow) {
  KnownRoofs disturbed = cpu_roofs();
  disturbed.others_cores = 1.3;
  StepWork work = cpu_work();
  work.step_s = 0.5;  // refused, for which the disturbance may be the reason
  const Position position = placed_on_cpu(work, disturbed);
  ASSERT_EQ(position.notes.size(), 1U);
  EXPECT_THAT(position.notes[0], HasSubstr("others kept 1.3 CPUs busy"));
  disturbed.others_cores = 0.1;
  EXPECT_TRUE(placed_on_cpu(work, disturbed).notes.empty());
}

TEST(CpuPosition, AKindOfNumberWithoutARoofSaysWhy) {
  StepWork work = cpu_work();
  work.flops.by_dtype["bfloat16"] = 1e9;
  KnownRoofs known = cpu_roofs();
  EXPECT_THAT(term(placed_on_cpu(work, known), "compute").why_absent, HasSubstr("not measured"));
  known.why_no_product["bfloat16"] = "this CPU has no instructions for it";
  EXPECT_EQ(term(placed_on_cpu(work, known), "compute").why_absent,
            "products of bfloat16 have no roof here: this CPU has no instructions for it");
}

TEST(KnownRoofs, AreThoseOfTheGpuOfThatName) {
  roofline::MachineRoofs kept;
  const auto add = [&kept](const std::string& name, double value, const std::string& gpu) {
    roofline::Roof each;
    each.name = name;
    each.value = value;
    each.conditions = {{"gpu", gpu}};
    kept.roofs.push_back(each);
  };
  add("gpu.0.gemm.bfloat16", 250e12, "NVIDIA A100-SXM4-80GB");
  add("gpu.1.gemm.bfloat16", 900e12, "another");
  add("gpu.0.h2d.pinned.1MiB", 20e9, "NVIDIA A100-SXM4-80GB");
  add("gpu.0.h2d.pageable.1MiB", 8e9, "NVIDIA A100-SXM4-80GB");
  add("gpu.0.hbm.copy", 1.7e12, "NVIDIA A100-SXM4-80GB");
  add("gpu.0.launch.kernels", 3e5, "NVIDIA A100-SXM4-80GB");
  add("memory.copy.1_threads", 1e10, "NVIDIA A100-SXM4-80GB");
  const KnownRoofs known = known_roofs(&kept, false, "NVIDIA A100-SXM4-80GB");
  ASSERT_NE(known.product("bfloat16"), nullptr);
  EXPECT_EQ(known.product("bfloat16")->value, 250e12);
  EXPECT_EQ(known.product("bfloat16")->source, RoofSource::kMeasured);
  ASSERT_NE(known.product("tf32"), nullptr) << "by the data sheet";
  EXPECT_EQ(known.product("tf32")->value, 156e12);
  EXPECT_EQ(known.product("tf32")->source, RoofSource::kSpecification);
  EXPECT_EQ(known.h2d->value, 20e9);
  EXPECT_EQ(known.memory->value, 1.7e12);
  EXPECT_EQ(known.launches->value, 3e5);
  EXPECT_EQ(known_roofs(&kept, true, "another").product("bfloat16")->source, RoofSource::kModelled);
  EXPECT_EQ(known_roofs(nullptr, false, "unheard of").product("bfloat16"), nullptr);
}

TEST(KnownRoofs, OfACpuAreThoseOfAsManyThreads) {
  roofline::MachineRoofs kept;
  const auto add = [&kept](const std::string& name, double value, std::int64_t threads) {
    roofline::Roof each;
    each.name = name;
    each.value = value;
    each.conditions = {{"threads", threads}};
    kept.roofs.push_back(each);
  };
  add("memory.copy.1_threads", 10e9, 1);
  add("memory.triad.1_threads", 11e9, 1);
  add("memory.copy.2_threads", 19e9, 2);
  add("memory.copy.4_threads", 30e9, 4);
  add("gemm.cpu.float32", 100e9, 4);
  add("page_cache.read.4_threads", 99e9, 4);
  kept.roofs[4].conditions.emplace_back("others_cpu_cores", 0.5);
  kept.absent = {{"gemm.cpu.bfloat16", "no instructions for it"}};
  const auto memory = [&kept](const Reading<std::int64_t>& threads) {
    return known_cpu_roofs({kept, {}, threads}).memory->value;
  };
  EXPECT_EQ(memory(1), 11e9);
  EXPECT_EQ(memory(2), 19e9);
  EXPECT_EQ(memory(3), 30e9);
  EXPECT_EQ(memory(64), 30e9);
  EXPECT_EQ(memory(WhyAbsent::kNotObserved), 30e9);
  const KnownRoofs known = known_cpu_roofs({kept, {{"bfloat16", 7e11}}, 1});
  EXPECT_EQ(known.product("float32")->value, 100e9);
  EXPECT_EQ(known.product_threads.value_or(0), 4);
  EXPECT_EQ(known.others_cores, 0.5);
  EXPECT_EQ(known.product("bfloat16")->source, RoofSource::kSpecification);
  EXPECT_EQ(known.why_no_product.at("bfloat16"), "no instructions for it");
  EXPECT_EQ(known.why_no_product.count("float32"), 0U);
  EXPECT_EQ(known.why_no_product.count("float64"), 1U);
  EXPECT_FALSE(known.h2d);
  EXPECT_FALSE(known.launches);
}

}  // namespace
}  // namespace unstarve::roofline
