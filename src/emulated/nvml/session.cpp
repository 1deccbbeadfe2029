#include "emulated/nvml/session.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "emulated/process/gpu.h"

namespace unstarve::emulated {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

NvmlDevice::NvmlDevice(const Settings& settings, int index, const std::vector<int>& slices)
    : settings_(settings),
      index_(index),
      watch_(settings.profile, index, settings.rings_folder, now_ns()) {
  for (const int each : slices) {
    instances_.push_back(
        {index, static_cast<int>(instances_.size()), each, settings.profile.total_memory_bytes});
  }
}

const BoardHistory& NvmlDevice::history() {
  watch_.follow(now_ns());
  return watch_.history();
}

std::vector<GpuUser> NvmlDevice::users() {
  if (shared_ == nullptr) {
    const Result<const SharedGpu*> shared = SharedState::look(settings_.state_folder, index_);
    if (shared) shared_ = *shared;
  }
  std::vector<GpuUser> users;
  if (shared_ == nullptr) return users;
  for (const GpuUse& use : shared_->uses) {
    const std::int32_t pid = use.pid.load();
    const std::uint64_t bytes = use.memory_bytes.load();
    if (pid != 0 && bytes != 0 && is_alive(use)) users.push_back({pid, bytes});
  }
  return users;
}

std::uint64_t NvmlDevice::memory_used() {
  std::uint64_t bytes = 0;
  for (const GpuUser& user : users()) bytes += user.memory_bytes;
  return bytes;
}

NvmlSession::NvmlSession(Settings settings)
    : settings_(std::move(settings)), errors_file_(variable("UNSTARVE_EMULATED_ERRORS")) {
  const std::vector<int> slices = parse_slices(variable("UNSTARVE_EMULATED_MIG"));
  for (int i = 0; i < settings_.gpus; ++i) {
    devices_.push_back(std::make_unique<NvmlDevice>(settings_, i, slices));
  }
}

NvmlDevice* NvmlSession::at(std::uint32_t index) {
  return index < devices_.size() ? devices_[index].get() : nullptr;
}

NvmlDevice* NvmlSession::find(const void* handle) {
  for (const auto& device : devices_) {
    if (device.get() == handle) return device.get();
  }
  return nullptr;
}

std::pair<NvmlDevice*, const NvmlInstance*> NvmlSession::find_instance(const void* handle) {
  for (const auto& device : devices_) {
    for (const NvmlInstance& instance : device->instances()) {
      if (&instance == handle) return {device.get(), &instance};
    }
  }
  return {nullptr, nullptr};
}

NvmlEventSet* NvmlSession::make_event_set() {
  event_sets_.push_back(std::make_unique<NvmlEventSet>(errors_file_));
  return event_sets_.back().get();
}

NvmlEventSet* NvmlSession::find_event_set(const void* set) {
  for (const auto& each : event_sets_) {
    if (each.get() == set) return each.get();
  }
  return nullptr;
}

bool NvmlSession::free_event_set(const void* set) {
  return std::erase_if(event_sets_, [set](const auto& each) { return each.get() == set; }) > 0;
}

NvmlState& nvml_state() {
  // Never destroyed: programs call NVML until their very end.
  static NvmlState& state = *std::make_unique<NvmlState>().release();
  return state;
}

nvml::Return copy_text(const std::string& text, char* out, std::uint32_t size) {
  if (out == nullptr) return nvml::Return::kInvalidArgument;
  if (text.size() + 1 > size) return nvml::Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return nvml::Return::kSuccess;
}

std::uint32_t to_percent(double ratio) {
  return static_cast<std::uint32_t>(std::lround(100 * std::clamp(ratio, 0.0, 1.0)));
}

std::uint32_t to_milliwatts(double watts) {
  return static_cast<std::uint32_t>(std::lround(1e3 * watts));
}

std::uint64_t to_wall_us(std::int64_t ns) {
  return static_cast<std::uint64_t>((ns + wall_time_ns() - now_ns()) / 1000);
}

}  // namespace unstarve::emulated
