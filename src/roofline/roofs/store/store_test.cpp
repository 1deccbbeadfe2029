#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/io/write.h"
#include "base/testing/test_folder.h"
#include "roofline/roofs/repeats.h"
#include "roofline/roofs/store/main_roofs.h"
#include "roofline/roofs/store/roofline_store.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

RooflineDocument some_document() {
  RooflineDocument document;
  document.machine.cpu_model = "A CPU";
  document.machine.cpus = 8;
  document.machine.cores_allowed = 1.5;
  document.machine.cores_bound_by = "quota";
  document.machine.quota_cores = 1.5;
  document.machine.memory_bytes = 8ULL << 30;
  document.machine.kernel = "6.1.0";
  document.machine.gpus = {{"NVIDIA H100", "GPU-1"}};
  document.unstarve_version = "0.1.0";
  Roof roof = make_roof("memory.triad.1_threads", "bytes/s", {1e10, 2e10});
  roof.measured_s = 1'790'000'000;
  roof.conditions.emplace_back("stores", std::string("plain"));
  roof.conditions.emplace_back("arrays_large_enough", true);
  document.known.roofs = {roof};
  document.known.absent = {{"gpu", "no driver"}};
  document.notes = {"a note"};
  return document;
}

TEST(RooflineStore, KeepsWhatItIsGiven) {
  const TestFolder folder;
  io::Files files;
  const RooflineStore store(files, folder.path() + "/new/roofline");
  const RooflineDocument document = some_document();
  const std::string key = machine_key(document.machine);
  EXPECT_EQ(store.load(key, false).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store.save(document));
  const auto loaded = store.load(key, false);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(write_roofline_document(*loaded), write_roofline_document(document));
  ASSERT_EQ(loaded->known.roofs.size(), 1U);
  EXPECT_EQ(loaded->known.roofs[0].conditions, document.known.roofs[0].conditions);
  EXPECT_EQ(loaded->known.roofs[0].value, 2e10);
  const auto all = store.load_all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].machine.cpu_model, "A CPU");
  EXPECT_TRUE(RooflineStore(files, folder.path() + "/none").load_all().empty());
  // What an emulated GPU does lies elsewhere.
  EXPECT_EQ(store.load(key, true).error().code, ErrorCode::kNotFound);
}

TEST(MainRoofs, AreTheBestOfTheirVariants) {
  MachineRoofs known;
  for (const auto& [name, value] : {std::pair{"memory.copy.1_threads", 10.0},
                                    {"memory.copy.2_threads", 18.0},
                                    {"memory.copy.4_threads", 17.0},
                                    {"memory.copying", 99.0},
                                    {"gemm.cpu.float32", 5.0},
                                    {"gpu.1.hbm.copy", 3.0}}) {
    known.roofs.push_back(make_roof(name, "bytes/s", {value}));
  }
  const std::vector<Roof> found = main_roofs(known);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "memory.copy");
  EXPECT_EQ(found[0].value, 18.0);
  EXPECT_EQ(found[1].name, "gemm.cpu.float32");
}

TEST(RooflineStore, AFileThatIsNoneOfOursIsAnErrorThatNamesIt) {
  const TestFolder folder;
  io::Files files;
  const RooflineStore store(files, folder.path());
  const std::string good = write_roofline_document(some_document());
  const auto replaced = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::string nested(100'000, '[');
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("null"), good.substr(0, good.size() / 2),
        nested, replaced("roofline/1", "roofline/9"), replaced("\"value\": 2", "\"value\": -2"),
        replaced("\"measured_s\": 1790000000", "\"measured_s\": \"x\""),
        replaced("\"roofs\": [", "\"roofs\": 3, \"x\": ["), std::string("\0\xff\xfe", 3)}) {
    ASSERT_TRUE(io::replace_file(store.path_of("k", false), text));
    const auto loaded = store.load("k", false);
    ASSERT_FALSE(loaded) << text.substr(0, 100);
    EXPECT_EQ(loaded.error().code, ErrorCode::kCorruptData);
    EXPECT_THAT(loaded.error().message, HasSubstr(store.path_of("k", false)));
  }
}

TEST(RooflineDocument, NamesMayHoldAnyBytes) {
  RooflineDocument document = some_document();
  document.machine.cpu_model = "A CPU \xff with odd bytes";
  EXPECT_TRUE(parse_roofline_document(write_roofline_document(document)));
}

TEST(RooflineStore, AFolderThatCannotBeWrittenIsSaid) {
  const TestFolder folder;
  io::Files files;
  ASSERT_TRUE(io::replace_file(folder.path() + "/file", "not a folder"));
  const RooflineStore store(files, folder.path() + "/file/roofline");
  EXPECT_FALSE(store.save(some_document()));
  EXPECT_FALSE(RooflineStore(files, "").save(some_document()));
}

TEST(MachineKey, TellsMachinesApartAndOutlivesAKernelsUpdate) {
  Machine machine = some_document().machine;
  const std::string key = machine_key(machine);
  machine.kernel = "6.12.0";
  machine.memory_bytes += 100;
  EXPECT_EQ(machine_key(machine), key);
  Machine other = machine;
  other.cores_allowed = 2;
  EXPECT_NE(machine_key(other), key);
  other = machine;
  other.gpus[0].uuid = "GPU-2";
  EXPECT_NE(machine_key(other), key);
}

}  // namespace
}  // namespace unstarve::roofline
