#pragma once

#include <cstdint>

namespace unstarve::test {

/// Allocations by threads other than those that called ignore_this_thread(), since the program
/// began. Linking counted_allocator.cpp puts the count under malloc and what is built on it.
std::uint64_t allocations();
void ignore_this_thread();

/// Makes the `nth` of these allocations from now on fail, from 1 on, or it and all that follow.
void fail_allocations(std::uint64_t nth, bool for_ever);
/// Memory is there again. Returns whether any was refused.
bool end_failures();

/// For the allocator: counts an allocation, and says whether it is to be refused.
bool refuse_allocation();

}  // namespace unstarve::test
