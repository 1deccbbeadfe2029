#include "emulated/nccl/group.h"

#include <utility>
#include <vector>

namespace unstarve::emulated::nccl {
namespace {

/// What one communicator does in one stream.
struct Part {
  std::shared_ptr<Communicator> communicator;
  void* stream = nullptr;
  Tasks tasks;
};

struct Group {
  int depth = 0;
  std::vector<Part> parts;
  std::vector<std::shared_ptr<Communicator>> making;
  std::vector<std::function<Result()>> waiting;
};

Group& group() {
  thread_local Group group;
  return group;
}

Tasks& tasks_of(const std::shared_ptr<Communicator>& communicator, void* stream) {
  for (Part& part : group().parts) {
    if (part.communicator == communicator && part.stream == stream) return part.tasks;
  }
  group().parts.push_back({communicator, stream, {}});
  return group().parts.back().tasks;
}

Result submit(Part& part) {
  Communicator& communicator = *part.communicator;
  if (const Result state = communicator.wait_until_ready(); state != Result::kSuccess) return state;
  Stream* const stream = communicator.gpu()->find_stream(part.stream);
  if (stream == nullptr || gpu_of(stream) != communicator.gpu()) {
    return fail(Result::kInvalidArgument, "the stream is not one of the communicator's GPU");
  }
  return communicator.submit(stream, std::move(part.tasks));
}

Result finish(Group work) {
  Result result = Result::kSuccess;
  const auto note = [&result](Result each) {
    if (result == Result::kSuccess || result == Result::kInProgress) {
      if (each != Result::kSuccess) result = each;
    }
  };
  // What these make waits for the others that are made here: a group of its own.
  ++group().depth;
  for (const auto& wait : work.waiting) note(wait());
  const Group made = std::exchange(group(), {});
  work.making.insert(work.making.end(), made.making.begin(), made.making.end());
  for (const auto& communicator : work.making) {
    note(communicator->blocks() ? communicator->wait_until_ready() : communicator->state());
  }
  for (Part& part : work.parts) note(submit(part));
  return result;
}

Result end_if_alone() {
  if (group().depth > 0) return Result::kSuccess;
  return finish(std::exchange(group(), {}));
}

}  // namespace

void group_start() { ++group().depth; }

Result group_end() {
  if (group().depth == 0) {
    return fail(Result::kInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  }
  --group().depth;
  return end_if_alone();
}

Result group_estimate(std::int64_t* duration) {
  if (group().depth != 1) {
    return fail(Result::kInvalidUsage, "ncclGroupSimulateEnd ends no outermost group");
  }
  const Group work = std::exchange(group(), {});
  *duration = 0;
  for (const Part& part : work.parts) {
    const Profile& profile = part.communicator->gpu()->profile();
    const Link link{.bytes_per_s = profile.link_bytes_per_s, .latency_ns = profile.link_latency_ns};
    *duration += duration_ns(part.tasks.collectives, part.communicator->ranks(), link) +
                 duration_ns(part.tasks.messages, link);
  }
  return Result::kSuccess;
}

void group_forget() {
  const int depth = group().depth;
  group() = {};
  group().depth = depth;
}

Result add(const std::shared_ptr<Communicator>& communicator, void* stream, CollectiveTask task) {
  tasks_of(communicator, stream).collectives.push_back(std::move(task));
  return end_if_alone();
}

Result add(const std::shared_ptr<Communicator>& communicator, void* stream, MessageTask task) {
  tasks_of(communicator, stream).messages.push_back(std::move(task));
  return end_if_alone();
}

Result add_making(const std::shared_ptr<Communicator>& communicator) {
  group().making.push_back(communicator);
  return end_if_alone();
}

Result add_waiting(std::function<Result()> work) {
  group().waiting.push_back(std::move(work));
  return end_if_alone();
}

}  // namespace unstarve::emulated::nccl
