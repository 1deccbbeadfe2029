#include "emulated/nccl/communicator.h"

#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/io/files.h"
#include "emulated/nccl/attendant.h"
#include "emulated/nccl/patience.h"
#include "emulated/process/api_call.h"
#include "emulated/process/machine.h"

namespace unstarve::emulated::nccl {
namespace {

static_assert(KeptBytes::kOfTalkers.bytes_max == kCarriedBytes);

struct Handles {
  Mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Communicator>> all UNSTARVE_GUARDED_BY(mutex);
};

/// Never destroyed: programs drop communicators while the process ends.
Handles& handles() {
  static Handles* const handles = new Handles;
  return *handles;
}

/// The folder that all processes of the emulation share.
std::string shared_folder() {
  Machine* const machine = Machine::get();
  if (machine != nullptr && !machine->settings().state_folder.empty()) {
    return machine->settings().state_folder;
  }
  std::error_code ignored;
  return std::filesystem::temp_directory_path(ignored).string();
}

Member::Timing timing_of(const Profile& profile) {
  return {.link = {.bytes_per_s = profile.link_bytes_per_s, .latency_ns = profile.link_latency_ns},
          .fixed_ns = profile.kernel_fixed_ns};
}

Result result_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return Result::kInvalidArgument;
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kIo:
    case ErrorCode::kNoPermission:
    case ErrorCode::kNotFound: return Result::kSystemError;
    default: return Result::kInternalError;
  }
}

}  // namespace

Communicator::Communicator(std::string id, Gpu* gpu, bool blocks, std::shared_ptr<Member> member)
    : id_(std::move(id)), gpu_(gpu), blocks_(blocks), member_(std::move(member)) {
  member_->when_begun([weak = std::weak_ptr<Member>(member_)] {
    if (const auto begun = weak.lock()) Attendant::get().expect(begun);
  });
}

Result Communicator::open(const std::string& id, const Seat& seat, Gpu* gpu, bool blocks,
                          std::shared_ptr<Communicator>* out) {
  io::Files files;
  unstarve::Result<std::shared_ptr<Meeting>> meeting =
      Meeting::join(shared_folder() + "/nccl-" + id, seat, files);
  if (!meeting) return fail(result_of(meeting.error().code), meeting.error().message);
  auto member = std::make_shared<Member>(std::move(*meeting), timing_of(gpu->profile()));
  keep_more();
  *out = std::shared_ptr<Communicator>(new Communicator(id, gpu, blocks, std::move(member)));
  return Result::kSuccess;
}

std::shared_ptr<Communicator> Communicator::find(const void* handle) {
  const MutexLock lock(handles().mutex);
  const auto found = handles().all.find(handle);
  return found == handles().all.end() ? nullptr : found->second;
}

void* Communicator::keep(const std::shared_ptr<Communicator>& communicator) {
  const MutexLock lock(handles().mutex);
  handles().all[communicator.get()] = communicator;
  return communicator.get();
}

void Communicator::drop(const void* handle) {
  const MutexLock lock(handles().mutex);
  handles().all.erase(handle);
}

Result Communicator::state() {
  if (const Result failed = failed_.load(); failed != Result::kSuccess) return failed;
  if (!ready_.load()) {
    if (!member_->meeting().complete()) return Result::kInProgress;
    ready_.store(true);
    if (const Result seats = check_seats(); seats != Result::kSuccess) return seats;
  }
  if (const std::optional<std::string> why = member_->failure()) {
    failed_.store(Result::kInvalidUsage);
    return fail(Result::kInvalidUsage, *why);
  }
  return Result::kSuccess;
}

Result Communicator::check_seats() {
  const auto same = member_->meeting().same_device();
  if (!same) return Result::kSuccess;
  failed_.store(Result::kInvalidUsage);
  return fail(Result::kInvalidUsage, "ranks " + std::to_string(same->first.rank) + " and " +
                                         std::to_string(same->second.rank) +
                                         " use the same GPU, number " +
                                         std::to_string(same->first.device) +
                                         " of the machine; each needs one of its own");
}

Result Communicator::wait_until_ready() {
  Patience patience;
  while (state() == Result::kInProgress && !member_->aborted()) patience.wait();
  if (member_->aborted()) return fail(Result::kInvalidUsage, "the communicator was aborted");
  return state();
}

Result Communicator::submit(Stream* stream, Tasks tasks) {
  const ApiCall call(Call::kLaunchKernel);
  const char* const name = name_of(tasks);
  const MutexLock lock(calls_);
  const bool captured = capture_of(stream).active;
  const std::shared_ptr<Gate> gate =
      captured ? member_->pattern(std::move(tasks)) : member_->begin(std::move(tasks));
  const Outcome outcome = gpu_->run_gated(stream, name, gate);
  if (outcome == Outcome::kSuccess) return Result::kSuccess;
  // What was numbered and does not run would hold up all that comes.
  if (!captured) member_->abort();
  return fail(Result::kUnhandledCudaError,
              "CUDA error " + std::to_string(static_cast<int>(outcome)) + " of " + name);
}

void Communicator::abort() {
  member_->abort();
  if (!member_->meeting().complete()) {
    io::Files files;
    member_->meeting().close(files);
  }
}

void Communicator::wait_until_idle() {
  Patience patience;
  while (!member_->idle()) patience.wait();
}

std::uint64_t Communicator::say(const Words& own) {
  const MutexLock lock(calls_);
  member_->meeting().cast(rounds_, own);
  return rounds_++;
}

std::optional<std::vector<Communicator::Words>> Communicator::hear(std::uint64_t round) {
  std::vector<Words> all;
  Patience patience;
  while (static_cast<int>(all.size()) < ranks()) {
    const auto words = member_->meeting().cast_by(round, static_cast<int>(all.size()));
    if (words) {
      all.push_back(*words);
    } else if (member_->aborted()) {
      return std::nullopt;
    } else {
      patience.wait();
    }
  }
  return all;
}

std::int32_t Communicator::add_operator(const Operator& made) {
  const MutexLock lock(operators_mutex_);
  for (std::size_t i = 0; i <= operators_.size(); ++i) {
    if (i == operators_.size()) operators_.emplace_back();
    if (operators_[i]) continue;
    operators_[i] = made;
    return kFirstCustomOp + static_cast<std::int32_t>(i);
  }
  return -1;
}

bool Communicator::remove_operator(std::int32_t number) {
  const MutexLock lock(operators_mutex_);
  const auto index = static_cast<std::size_t>(number - kFirstCustomOp);
  if (number < kFirstCustomOp || index >= operators_.size() || !operators_[index]) return false;
  operators_[index].reset();
  return true;
}

std::optional<Operator> Communicator::find_operator(std::int32_t number) {
  constexpr std::array<Reduction, kFirstCustomOp> kBuiltIn = {
      Reduction::kSum, Reduction::kProduct, Reduction::kMax, Reduction::kMin, Reduction::kAverage};
  if (number < 0) return std::nullopt;
  if (number < kFirstCustomOp) {
    return Operator{.reduction = kBuiltIn[static_cast<std::size_t>(number)], .factor = 1};
  }
  const MutexLock lock(operators_mutex_);
  const auto index = static_cast<std::size_t>(number - kFirstCustomOp);
  return index < operators_.size() ? operators_[index] : std::nullopt;
}

}  // namespace unstarve::emulated::nccl
