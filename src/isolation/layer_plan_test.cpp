#include "isolation/layer_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <map>
#include <set>

#include "isolation/kept_places.h"
#include "isolation/made_files.h"

namespace unstarve::isolation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kTable =
    "23 22 0:21 / /proc rw - proc proc rw\n"
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "24 22 0:6 / /dev rw - devtmpfs devtmpfs rw\n"
    "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n"
    "26 22 0:40 / /data\\040sets ro,relatime - nfs4 server:/x rw\n"
    "27 22 0:41 / /scratch rw,nosuid,nodev - xfs /dev/vdb rw\n"
    "28 22 0:42 / /cd rw - iso9660 /dev/sr0 ro\n"
    "broken line\n"
    "29 22 0:43 / /etc/hosts rw - ext4 /dev/vda rw\n";

/// A machine of its own: which folders there are, and which may be written to.
class FakeFolders : public Folders {
 public:
  std::vector<std::string> folders_in(const std::string& folder) const override {
    const auto known = children.find(folder);
    return known == children.end() ? std::vector<std::string>() : known->second;
  }
  bool is_folder(const std::string& path) const override { return path != "/etc/hosts"; }
  bool can_write(const std::string& folder) const override { return writable.count(folder) != 0; }
  bool is_own(const std::string& folder) const override { return own.count(folder) != 0; }

  std::map<std::string, std::vector<std::string>> children;
  std::set<std::string> writable;
  std::set<std::string> own;
};

std::vector<std::string> paths(const std::vector<MountStep>& steps, MountStep::Kind kind) {
  std::vector<std::string> found;
  for (const MountStep& step : steps) {
    if (step.kind == kind) found.push_back(step.path);
  }
  return found;
}

TEST(MountTable, KnowsPointsTypesAndFlags) {
  const auto mounts = parse_mount_table(kTable);
  ASSERT_EQ(mounts.size(), 8U);
  EXPECT_EQ(mounts[4].point, "/data sets");
  EXPECT_EQ(mounts[4].flags, static_cast<unsigned long>(MS_RDONLY));
  EXPECT_EQ(mounts[5].flags, static_cast<unsigned long>(MS_NOSUID | MS_NODEV));
  EXPECT_EQ(mounts[6].flags, static_cast<unsigned long>(MS_RDONLY));
}

TEST(MountTable, AFolderHoldsItselfAndWhatIsBelow) {
  EXPECT_TRUE(lies_in("/a/b", "/a"));
  EXPECT_TRUE(lies_in("/a", "/a"));
  EXPECT_TRUE(lies_in("/a", "/"));
  EXPECT_FALSE(lies_in("/ab", "/a"));
  EXPECT_FALSE(lies_in("/", "/a"));
}

TEST(LayerPlan, AnAdministratorLayersWhatCanBeWrittenTo) {
  const auto steps = layers_of_all(parse_mount_table(kTable), FakeFolders());
  EXPECT_THAT(paths(steps, MountStep::Kind::kLayer), ElementsAre("/", "/scratch"));
  EXPECT_THAT(paths(steps, MountStep::Kind::kReadOnly), ElementsAre("/etc/hosts"));
  EXPECT_THAT(paths(steps, MountStep::Kind::kKept),
              UnorderedElementsAre("/proc", "/dev", "/dev/shm", "/data sets", "/cd"));
}

TEST(LayerPlan, AUserLayersFoldersWithoutMountsInThem) {
  FakeFolders folders;
  folders.children = {
      {"/", {"cd", "data sets", "dev", "etc", "home", "proc", "scratch", "tmp", "usr"}},
      {"/usr", {"bin", "local"}},
      {"/scratch", {"team"}},
      {"/scratch/team", {"me"}}};
  folders.writable = {"/tmp", "/scratch/team", "/home/me", "/scratch/team/me", "/scratch/a/b/c/d"};
  folders.own = {"/scratch/team/me", "/home/me", "/scratch/a/b/c/d"};
  folders.children["/home"] = {"me"};
  const auto steps = layers_of_user(parse_mount_table(kTable), folders, {"/scratch/a/b/c/d/e"});
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_THAT(paths(*steps, MountStep::Kind::kLayer),
              ElementsAre("/home", "/home/me", "/tmp", "/usr/local", "/scratch", "/scratch/a/b/c/d",
                          "/scratch/team", "/scratch/team/me"));
  EXPECT_THAT(paths(*steps, MountStep::Kind::kReadOnly), ElementsAre("/etc/hosts"));
}

TEST(LayerPlan, AUsersFolderWithAMountInItCannotBeLayered) {
  FakeFolders folders;
  folders.children = {{"/", {"home"}}, {"/home", {"me"}}, {"/home/me", {"nfs", "code"}}};
  folders.writable = {"/home/me"};
  auto mounts = parse_mount_table(kTable);
  mounts.push_back({30, "/home/me/nfs", "nfs4", 0});
  const auto steps = layers_of_user(mounts, folders, {});
  ASSERT_FALSE(steps);
  EXPECT_THAT(steps.error().message, HasSubstr("/home/me"));
}

TEST(KeptPlaces, CachesAreThoseThatAreThere) {
  EXPECT_THAT(shared_caches([](const char* name) {
                return std::string_view(name) == "HF_HOME" ? "/no/such/folder" : nullptr;
              }),
              testing::Not(testing::Contains("/no/such/folder")));
  const auto found = shared_caches([](const char* name) {
    return std::string_view(name) == "TORCH_HOME" ? "/usr/lib" : nullptr;
  });
  EXPECT_THAT(found, testing::Contains("/usr/lib"));
}

TEST(KeptPlaces, AnEmulatedMachineIsShared) {
  const auto found = shared_caches([](const char* name) {
    return std::string_view(name) == "UNSTARVE_EMULATED_GPU" ? "/usr/lib/settings.json" : nullptr;
  });
  EXPECT_THAT(found, testing::Contains("/usr/lib"));
}

TEST(KeptPlaces, SocketsAreThoseThatAreSockets) {
  EXPECT_THAT(open_sockets("Num RefCount\n0000: 00000002 00000000 00010000 0001 01 1 /etc/passwd\n"
                           "0000: 00000002 00000000 00010000 0001 01 2 @abstract\n"),
              IsEmpty());
}

TEST(MadeFiles, WhatIsMadeCarriesWhatLiesInIt) {
  MadeFiles files({"/free"});
  files.make("/a/out");
  files.make("/free/x");
  EXPECT_TRUE(files.is_made("/a/out/deep/file"));
  EXPECT_FALSE(files.is_made("/a/other"));
  EXPECT_FALSE(files.is_made("/a/outer"));
  files.make("/a/out/file");
  files.rename("/a/out", "/a/named");
  EXPECT_THAT(files.all(), UnorderedElementsAre("/a/named", "/a/named/file"));
  EXPECT_TRUE(files.is_free("/free/y"));
}

}  // namespace
}  // namespace unstarve::isolation
