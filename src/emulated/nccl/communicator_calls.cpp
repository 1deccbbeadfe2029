#include <algorithm>
#include <string>
#include <vector>

#include "emulated/nccl/group.h"
#include "emulated/nccl/guarded.h"
#include "emulated/nccl/nccl_abi.h"
#include "emulated/nccl/unique_id.h"

namespace unstarve::emulated::nccl {
namespace {

/// Whether calls with this configuration wait; the default where none is given.
bool blocks(const Config* config) {
  return config == nullptr || config->blocking == kUndefinedInt || config->blocking != 0;
}

Result check(const Config* config) {
  if (config == nullptr) return Result::kSuccess;
  const bool known = config->magic == kConfigMagic && config->size >= sizeof(Config);
  return known ? Result::kSuccess
               : fail(Result::kInvalidArgument, "the configuration was not initialized");
}

/// A new communicator with a handle, of the calling thread's GPU or a given one.
Result make(void** out, const std::string& id, const Seat& seat, Gpu* gpu, bool blocking) {
  std::shared_ptr<Communicator> made;
  const Result opened = Communicator::open(id, seat, gpu, blocking, &made);
  if (opened != Result::kSuccess) return opened;
  *out = Communicator::keep(made);
  const Result ready = add_making(made);
  if (ready == Result::kSuccess || ready == Result::kInProgress) return ready;
  Communicator::drop(*out);
  *out = nullptr;
  return ready;
}

Result init_rank(void** out, int ranks, const UniqueId& unique, int rank, const Config* config) {
  if (out == nullptr) return fail(Result::kInvalidArgument, "no place for the communicator");
  *out = nullptr;
  if (const Result checked = check(config); checked != Result::kSuccess) return checked;
  const std::optional<std::string> id = text_of(unique);
  if (!id) return fail(Result::kInvalidArgument, "the unique ID is none of ncclGetUniqueId's");
  Gpu* const gpu = usable() == Outcome::kSuccess ? current_gpu() : nullptr;
  if (gpu == nullptr) return fail(Result::kUnhandledCudaError, "there is no GPU");
  const Seat seat{.ranks = ranks, .rank = rank, .device = gpu->machine_index()};
  return make(out, *id, seat, gpu, blocks(config));
}

/// A child of `parent` for some of its ranks, whose number among them is given.
Result make_child(Communicator& parent, const std::string& name, int ranks, int rank, bool blocking,
                  void** out) {
  const Seat seat{.ranks = ranks, .rank = rank, .device = parent.gpu()->machine_index()};
  return make(out, parent.id() + "-" + name, seat, parent.gpu(), blocking);
}

bool blocks(const Communicator& parent, const Config* config) {
  return config == nullptr ? parent.blocks() : blocks(config);
}

/// The second half of a split: `round` is that of the colors and keys.
Result split(Communicator& parent, std::uint64_t round, int color, bool blocking, void** out) {
  const std::uint64_t child = parent.next_child();
  const auto all = parent.hear(round);
  if (!all) return fail(Result::kInvalidUsage, "ncclCommSplit: the communicator was aborted");
  if (color == kSplitNoColor) return Result::kSuccess;
  std::vector<std::pair<std::int64_t, int>> members;  // key, rank
  for (int rank = 0; rank < parent.ranks(); ++rank) {
    const Communicator::Words& words = (*all)[static_cast<std::size_t>(rank)];
    if (words[0] == color) members.emplace_back(words[1], rank);
  }
  std::sort(members.begin(), members.end());
  const auto own = std::find_if(members.begin(), members.end(),
                                [&](const auto& member) { return member.second == parent.rank(); });
  return make_child(parent, std::to_string(child) + "c" + std::to_string(color),
                    static_cast<int>(members.size()), static_cast<int>(own - members.begin()),
                    blocking, out);
}

Result shrink(Communicator& parent, const std::vector<int>& excluded, bool blocking, void** out) {
  const std::uint64_t child = parent.next_child();
  int ranks = 0;
  int own = -1;
  for (int rank = 0; rank < parent.ranks(); ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) != excluded.end()) continue;
    if (rank == parent.rank()) own = ranks;
    ++ranks;
  }
  if (own < 0) return fail(Result::kInvalidArgument, "ncclCommShrink: called by an excluded rank");
  return make_child(parent, std::to_string(child) + "s", ranks, own, blocking, out);
}

/// For the calls that say one number of a communicator.
template <class Number, class Get>
Result tell(const void* handle, Number* out, const char* function, Get get) {
  return with_communicator(handle, function, [&](const auto& communicator) {
    if (out == nullptr) return fail(Result::kInvalidArgument, function);
    *out = get(*communicator);
    return Result::kSuccess;
  });
}

}  // namespace
}  // namespace unstarve::emulated::nccl

namespace nccl = unstarve::emulated::nccl;
using nccl::Result;

#pragma GCC visibility push(default)
extern "C" {

Result ncclGetUniqueId(nccl::UniqueId* out) {
  return nccl::guarded([&] {
    if (out == nullptr) return nccl::fail(Result::kInvalidArgument, "ncclGetUniqueId");
    return nccl::make_unique_id(out)
               ? Result::kSuccess
               : nccl::fail(Result::kSystemError, "the system gives no random numbers");
  });
}

Result ncclCommInitRankConfig(void** out, int ranks, nccl::UniqueId id, int rank,
                              const nccl::Config* config) {
  return nccl::guarded([&] { return nccl::init_rank(out, ranks, id, rank, config); });
}

Result ncclCommInitRank(void** out, int ranks, nccl::UniqueId id, int rank) {
  return ncclCommInitRankConfig(out, ranks, id, rank, nullptr);
}

Result ncclCommInitRankScalable(void** out, int ranks, int rank, int ids, nccl::UniqueId* id,
                                const nccl::Config* config) {
  if (ids < 1 || id == nullptr) return Result::kInvalidArgument;
  return ncclCommInitRankConfig(out, ranks, id[0], rank, config);
}

Result ncclCommInitAll(void** out, int count, const int* devices) {
  namespace emulated = unstarve::emulated;
  return nccl::guarded([&]() -> Result {
    if (out == nullptr || count < 1) return nccl::fail(Result::kInvalidArgument, "ncclCommInitAll");
    nccl::UniqueId unique;
    if (!nccl::make_unique_id(&unique)) return Result::kSystemError;
    const std::string id = nccl::text_of(unique).value_or("");
    nccl::group_start();
    Result result = Result::kSuccess;
    for (int rank = 0; rank < count && result == Result::kSuccess; ++rank) {
      emulated::Gpu* const gpu = emulated::gpu_at(devices == nullptr ? rank : devices[rank]);
      if (gpu == nullptr) {
        result = nccl::fail(Result::kInvalidArgument, "ncclCommInitAll: no such GPU");
        break;
      }
      const emulated::Seat seat{.ranks = count, .rank = rank, .device = gpu->machine_index()};
      result = nccl::make(&out[rank], id, seat, gpu, true);
    }
    // What was begun without the others would wait for them for ever.
    if (result != Result::kSuccess) nccl::group_forget();
    const Result ended = nccl::group_end();
    return result == Result::kSuccess ? ended : result;
  });
}

Result ncclCommSplit(void* handle, int color, int key, void** out, const nccl::Config* config) {
  return nccl::with_communicator(handle, "ncclCommSplit", [&](const auto& parent) -> Result {
    if (out == nullptr || (color < 0 && color != nccl::kSplitNoColor)) {
      return nccl::fail(Result::kInvalidArgument, "ncclCommSplit");
    }
    *out = nullptr;
    if (const Result checked = nccl::check(config); checked != Result::kSuccess) return checked;
    const bool blocking = nccl::blocks(*parent, config);
    const std::uint64_t round = parent->say({color, key});
    return nccl::add_waiting(
        [=, parent = parent] { return nccl::split(*parent, round, color, blocking, out); });
  });
}

Result ncclCommShrink(void* handle, const int* excluded, int count, void** out,
                      const nccl::Config* config, int flags) {
  return nccl::with_communicator(handle, "ncclCommShrink", [&](const auto& parent) -> Result {
    if (out == nullptr || count < 1 || excluded == nullptr) {
      return nccl::fail(Result::kInvalidArgument, "ncclCommShrink");
    }
    *out = nullptr;
    if (const Result checked = nccl::check(config); checked != Result::kSuccess) return checked;
    if ((flags & nccl::kShrinkAbort) != 0) parent->abort();
    return nccl::shrink(*parent, {excluded, excluded + count}, nccl::blocks(*parent, config), out);
  });
}

Result ncclCommFinalize(void* handle) {
  return nccl::with_communicator(handle, "ncclCommFinalize", [&](const auto& communicator) {
    communicator->wait_until_idle();
    return Result::kSuccess;
  });
}

Result ncclCommDestroy(void* handle) {
  if (handle == nullptr) return Result::kSuccess;
  return nccl::with_communicator(handle, "ncclCommDestroy", [&](const auto& communicator) {
    communicator->wait_until_idle();
    nccl::Communicator::drop(handle);
    return Result::kSuccess;
  });
}

Result ncclCommAbort(void* handle) {
  if (handle == nullptr) return Result::kSuccess;
  return nccl::with_communicator(handle, "ncclCommAbort", [&](const auto& communicator) {
    communicator->abort();
    nccl::Communicator::drop(handle);
    return Result::kSuccess;
  });
}

/// Stops what goes on and leaves the communicator to be shrunk or destroyed.
Result ncclCommRevoke(void* handle, int flags) {
  return nccl::with_communicator(handle, "ncclCommRevoke", [&](const auto& communicator) {
    if (flags != 0) return nccl::fail(Result::kInvalidArgument, "ncclCommRevoke: flags");
    communicator->abort();
    return Result::kSuccess;
  });
}

Result ncclCommGetAsyncError(void* handle, Result* out) {
  return nccl::tell(handle, out, "ncclCommGetAsyncError",
                    [](nccl::Communicator& communicator) { return communicator.state(); });
}

Result ncclCommCount(const void* handle, int* out) {
  return nccl::tell(handle, out, "ncclCommCount",
                    [](const nccl::Communicator& communicator) { return communicator.ranks(); });
}

Result ncclCommUserRank(const void* handle, int* out) {
  return nccl::tell(handle, out, "ncclCommUserRank",
                    [](const nccl::Communicator& communicator) { return communicator.rank(); });
}

Result ncclCommCuDevice(const void* handle, int* out) {
  return nccl::tell(handle, out, "ncclCommCuDevice", [](const nccl::Communicator& communicator) {
    return communicator.gpu()->index();
  });
}

Result ncclGroupStart() {
  return nccl::guarded([] {
    nccl::group_start();
    return Result::kSuccess;
  });
}

Result ncclGroupEnd() {
  return nccl::guarded([] { return nccl::group_end(); });
}

Result ncclGroupSimulateEnd(nccl::SimulationInfo* info) {
  return nccl::guarded([&]() -> Result {
    if (info == nullptr || info->magic != nccl::kSimulationMagic ||
        info->size < sizeof(nccl::SimulationInfo)) {
      return nccl::fail(Result::kInvalidArgument, "ncclGroupSimulateEnd");
    }
    std::int64_t duration_ns = 0;
    const Result result = nccl::group_estimate(&duration_ns);
    if (result == Result::kSuccess) info->estimated_time = static_cast<float>(duration_ns) * 1e-3F;
    return result;
  });
}
}
#pragma GCC visibility pop
