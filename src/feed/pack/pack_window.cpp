#include "feed/pack/pack_window.h"

namespace unstarve::feed {
namespace {

std::uint64_t bytes_of_sample(const PackedSample& packed) {
  return packed.sample.payload.size() + packed.sample.source_size;
}

}  // namespace

PackWindow::PackWindow(std::uint64_t first, std::uint64_t end, std::size_t slots,
                       std::uint64_t bytes_max)
    : end_(end), bytes_max_(bytes_max), slots_(slots), claimed_(first), taken_(first) {}

std::optional<PackWindow::Claim> PackWindow::claim(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
    if (claimed_ >= end_) return true;
    // The one that is waited for is always let in.
    return claimed_ == taken_ || (claimed_ - taken_ < slots_.size() && bytes_ < bytes_max_);
  };
  if (!has_room_.wait(mutex_, stop, ready) || stop.stop_requested() || claimed_ >= end_) {
    return std::nullopt;
  }
  const std::uint64_t index = claimed_++;
  return Claim{index, &slot(index).packed};
}

void PackWindow::finish(const Claim& claim) {
  {
    MutexLock lock(mutex_);
    slot(claim.index).ready = true;
    bytes_ += bytes_of_sample(*claim.packed);
  }
  has_ready_.notify_one();
}

PackedSample* PackWindow::next() {
  MutexLock lock(mutex_);
  if (taken_ >= end_) return nullptr;
  const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) { return slot(taken_).ready; };
  has_ready_.wait(mutex_, std::stop_token(), ready);
  return &slot(taken_).packed;
}

void PackWindow::release() {
  {
    MutexLock lock(mutex_);
    Slot& done = slot(taken_);
    done.ready = false;
    bytes_ -= bytes_of_sample(done.packed);
    ++taken_;
  }
  has_room_.notify_all();
}

}  // namespace unstarve::feed
