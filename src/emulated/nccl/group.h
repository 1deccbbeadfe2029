#pragma once

#include <functional>
#include <memory>

#include "emulated/nccl/communicator.h"

/// What the calling thread has called between ncclGroupStart and ncclGroupEnd. Outside of a group
/// each call is one by itself.
namespace unstarve::emulated::nccl {

void group_start();
/// Does all of it: makes communicators, waits for those that block, puts collectives and messages
/// into their streams, one operation for what one communicator does in one stream.
Result group_end();
/// As group_end(), but forgets all of it and says how long it would take.
Result group_estimate(std::int64_t* duration_ns);
/// Nothing of it shall happen; the group goes on, empty.
void group_forget();

Result add(const std::shared_ptr<Communicator>& communicator, void* stream, CollectiveTask task);
Result add(const std::shared_ptr<Communicator>& communicator, void* stream, MessageTask task);
/// To be ready when the group ends.
Result add_making(const std::shared_ptr<Communicator>& communicator);
/// Runs when the group ends, or now: what waits for other ranks, which this thread may be as well.
Result add_waiting(std::function<Result()> work);

}  // namespace unstarve::emulated::nccl
