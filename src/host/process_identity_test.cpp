#include "host/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unstarve::host {
namespace {

TEST(ProcessIdentity, ThisProcessIsAlive) {
  const HostFiles files;
  const auto own = own_identity(files);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->pid, ::getpid());
  const auto read = parse_process_identity(to_text(*own));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->start_ticks, own->start_ticks);
  EXPECT_EQ(liveness_of(*read, files), Liveness::kAlive);
}

TEST(ProcessIdentity, AnotherProcessOfTheSameNumberIsNotIt) {
  const HostFiles files;
  ProcessIdentity other = *own_identity(files);
  other.start_ticks -= 1;
  EXPECT_EQ(liveness_of(other, files), Liveness::kGone);
}

TEST(ProcessIdentity, AProcessThatEndedIsGone) {
  const HostFiles files;
  ProcessIdentity child = *own_identity(files);
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  child.pid = pid;
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(liveness_of(child, files), Liveness::kGone);
}

TEST(ProcessIdentity, NothingIsSaidOfOtherMachinesAndContainers) {
  const HostFiles files;
  ProcessIdentity elsewhere = *own_identity(files);
  elsewhere.boot_id = "another";
  EXPECT_EQ(liveness_of(elsewhere, files), Liveness::kUnknown);
  ProcessIdentity contained = *own_identity(files);
  contained.pid_namespace = "pid:[1]";
  EXPECT_EQ(liveness_of(contained, files), Liveness::kUnknown);
}

TEST(ProcessIdentity, WhatNamesNoProcessIsAnError) {
  for (const char* text : {"", " ", "1", "1 2", "1 2 pid", "0 2 pid boot", "1 -2 pid boot",
                           "1 2x pid boot", "1 2 pid boot more", "99999999999999999999 2 p b"}) {
    EXPECT_FALSE(parse_process_identity(text)) << text;
  }
}

}  // namespace
}  // namespace unstarve::host
