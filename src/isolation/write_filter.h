#pragma once

#include <linux/filter.h>

#include <vector>

namespace unstarve::isolation {

/// A seccomp program that hands over (SECCOMP_RET_USER_NOTIF) every system call that may change
/// what a path leads to, and lets all others through: opens that neither write nor make a file are
/// not slowed down. Calls of another architecture's kind are let through.
std::vector<sock_filter> write_filter();

}  // namespace unstarve::isolation
