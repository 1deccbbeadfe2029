#pragma once

#include <cstdint>

namespace unstarve::test {

/// Allocations by threads other than those that called ignore_this_thread(), since the program
/// began. Linking counted_allocator.cpp puts the count under malloc and what is built on it.
std::uint64_t allocations();
void ignore_this_thread();

}  // namespace unstarve::test
