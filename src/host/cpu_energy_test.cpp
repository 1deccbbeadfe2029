#include "host/cpu_energy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::host {
namespace {

class CpuEnergy : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = folder_.path() + "/sys/class/powercap/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void write_zone(const std::string& zone, const std::string& name, const std::string& energy) {
    write(zone + "/name", name + "\n");
    write(zone + "/energy_uj", energy + "\n");
    write(zone + "/max_energy_range_uj", "262143328850\n");
  }

  TestFolder folder_;
  HostFiles files_{folder_.path()};
};

TEST_F(CpuEnergy, IsThatOfEachProcessorAndOfNothingTwice) {
  write_zone("intel-rapl:0", "package-0", "100");
  write_zone("intel-rapl:0:0", "core", "60");
  write_zone("intel-rapl:1", "psys", "900");
  write_zone("intel-rapl:2", "package-1", "7");
  write_zone("intel-rapl-mmio:0", "package-0", "100");
  const auto packages = find_cpu_packages(files_);
  ASSERT_TRUE(packages) << packages.error().message;
  ASSERT_EQ(packages->size(), 2U);
  EXPECT_EQ(*read_energy_uj(files_, (*packages)[0]), 100U);
  EXPECT_EQ(*read_energy_uj(files_, (*packages)[1]), 7U);
  EXPECT_EQ((*packages)[0].range_uj, 262143328850U);
}

TEST_F(CpuEnergy, IsNotThereWithoutRapl) {
  const auto packages = find_cpu_packages(files_);
  ASSERT_FALSE(packages);
  EXPECT_EQ(packages.error().code, ErrorCode::kNotFound);
}

TEST_F(CpuEnergy, OfACounterThatIsNoNumberIsAnError) {
  write_zone("intel-rapl:0", "package-0", "12 J");
  const auto packages = find_cpu_packages(files_);
  ASSERT_TRUE(packages);
  EXPECT_FALSE(read_energy_uj(files_, packages->front()));
}

TEST(CpuEnergyCounter, GoesOnBehindItsEnd) {
  const CpuPackage package{"", 999};
  EXPECT_EQ(energy_since_uj(package, 10, 15), 5U);
  EXPECT_EQ(energy_since_uj(package, 990, 5), 15U);  // 990..999, 0..5
  EXPECT_EQ(energy_since_uj(package, 2000, 5), 5U) << "a range that is not the counter's";
}

}  // namespace
}  // namespace unstarve::host
