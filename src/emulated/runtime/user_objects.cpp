#include "emulated/runtime/user_objects.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "emulated/runtime/runtime_call.h"

namespace unstarve::emulated {
namespace {

struct UserObject {
  void* value = nullptr;
  void (*destroy)(void*) = nullptr;
  std::uint64_t holders = 0;
};

struct Holding {
  UserObject* object = nullptr;
  std::uint64_t count = 0;
};

struct Objects {
  Mutex mutex;
  std::unordered_map<const void*, UserObject> known UNSTARVE_GUARDED_BY(mutex);  // by their handle
  std::unordered_map<const void*, std::vector<Holding>> held UNSTARVE_GUARDED_BY(
      mutex);  // by graph
  std::uintptr_t next_handle UNSTARVE_GUARDED_BY(mutex) = 1;
};

Objects& objects() {
  static auto* const all = new Objects;  // never destroyed: graphs are, while the process ends
  return *all;
}

/// Takes `count` holders away; the function to call, outside of the lock, if none is left.
std::pair<void (*)(void*), void*> drop(Objects& all, UserObject* object, std::uint64_t count)
    UNSTARVE_REQUIRES(all.mutex) {
  object->holders -= count < object->holders ? count : object->holders;
  if (object->holders != 0) return {nullptr, nullptr};
  const std::pair<void (*)(void*), void*> last = {object->destroy, object->value};
  for (auto entry = all.known.begin(); entry != all.known.end(); ++entry) {
    if (&entry->second == object) {
      all.known.erase(entry);
      break;
    }
  }
  return last;
}

}  // namespace

void share_user_objects(const void* graph, const void* copy) {
  Objects& all = objects();
  const MutexLock lock(all.mutex);
  const auto held = all.held.find(graph);
  if (held == all.held.end()) return;
  const std::vector<Holding> same = held->second;
  for (const Holding& holding : same) holding.object->holders += holding.count;
  all.held[copy] = same;
}

void release_user_objects(const void* graph) {
  Objects& all = objects();
  std::vector<std::pair<void (*)(void*), void*>> last;
  {
    const MutexLock lock(all.mutex);
    const auto held = all.held.find(graph);
    if (held == all.held.end()) return;
    for (const Holding& holding : held->second) {
      last.push_back(drop(all, holding.object, holding.count));
    }
    all.held.erase(held);
  }
  for (const auto& [destroy, value] : last) {
    if (destroy != nullptr) destroy(value);
  }
}

UNSTARVE_CUDART cudaUserObjectCreate(void** object, void* value, void (*destroy)(void*),
                                     unsigned holders, unsigned) {
  if (object == nullptr || destroy == nullptr || holders == 0) {
    return remember(Outcome::kInvalidValue);
  }
  Objects& all = objects();
  const MutexLock lock(all.mutex);
  // Handles are numbers that look like no address.
  *object = reinterpret_cast<void*>(all.next_handle++ << 4U | 1U);
  all.known[*object] = {value, destroy, holders};
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaUserObjectRetain(void* object, unsigned count) {
  Objects& all = objects();
  const MutexLock lock(all.mutex);
  const auto found = all.known.find(object);
  if (found == all.known.end()) return remember(Outcome::kInvalidValue);
  found->second.holders += count;
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaUserObjectRelease(void* object, unsigned count) {
  Objects& all = objects();
  std::pair<void (*)(void*), void*> last = {nullptr, nullptr};
  {
    const MutexLock lock(all.mutex);
    const auto found = all.known.find(object);
    if (found == all.known.end()) return remember(Outcome::kInvalidValue);
    last = drop(all, &found->second, count);
  }
  if (last.first != nullptr) last.first(last.second);
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaGraphRetainUserObject(void* graph, void* object, unsigned count,
                                          unsigned flags) {
  constexpr unsigned kMove = 1;  // the caller's holders become the graph's
  Objects& all = objects();
  const MutexLock lock(all.mutex);
  const auto found = all.known.find(object);
  if (graph == nullptr || found == all.known.end()) return remember(Outcome::kInvalidValue);
  if ((flags & kMove) == 0) found->second.holders += count;
  all.held[graph].push_back({&found->second, count});
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  {
    Objects& all = objects();
    const MutexLock lock(all.mutex);
    const auto found = all.known.find(object);
    const auto held = all.held.find(graph);
    if (found == all.known.end() || held == all.held.end()) {
      return remember(Outcome::kInvalidValue);
    }
    for (Holding& holding : held->second) {
      if (holding.object == &found->second)
        holding.count -= std::min<std::uint64_t>(count, holding.count);
    }
  }
  return cudaUserObjectRelease(object, count);
}

}  // namespace unstarve::emulated
