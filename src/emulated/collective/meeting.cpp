#include "emulated/collective/meeting.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace unstarve::emulated {

// Zeros are the beginning of each of these, so that a fresh file needs no making; hence also the
// numbers that are one more than what they count.

struct alignas(64) Meeting::Head {
  std::atomic<std::uint32_t> ranks;
  std::atomic<std::uint32_t> present;
};

struct alignas(64) Meeting::Place {
  std::atomic<std::uint32_t> taken;
  std::int32_t device;
};

struct alignas(64) Meeting::Slot {
  std::atomic<std::uint64_t> published;  // the operation's number + 1
  std::int64_t reached_ns;
  std::uint64_t digest;
  std::uint64_t bytes;
  std::atomic<std::uint64_t> acknowledged;  // likewise, by the receiver
  std::int64_t acknowledged_ns;
  alignas(64) std::array<std::byte, kCarriedBytes> carried;
};

struct alignas(64) Meeting::Ballot {
  std::atomic<std::uint64_t> cast;  // the round's number + 1
  std::array<std::int64_t, 2> words;
};

namespace {

constexpr int kMostRanks = 256;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

std::size_t Meeting::size_for(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  return sizeof(Head) + count * (sizeof(Place) + 2 * sizeof(Ballot) + 2 * sizeof(Slot)) +
         count * count * kMessages * sizeof(Slot);
}

Meeting::Meeting(io::Mapping mapping, std::string path, const Seat& seat)
    : mapping_(std::move(mapping)),
      start_(mapping_.writable_bytes().data()),
      path_(std::move(path)),
      seat_(seat) {}

Result<std::shared_ptr<Meeting>> Meeting::join(const std::string& path, const Seat& seat,
                                               io::Files& files) {
  if (seat.ranks < 1 || seat.ranks > kMostRanks || seat.rank < 0 || seat.rank >= seat.ranks) {
    return fail(ErrorCode::kInvalidArgument, "rank {} of {} ranks", seat.rank, seat.ranks);
  }
  Result<FileDescriptor> file = files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return forward_error(file);
  const std::size_t size = size_for(seat.ranks);
  const Result<io::FileState> state = files.state(file->get());
  if (!state) return forward_error(state);
  if (state->size != 0 && state->size != size) {
    return fail(ErrorCode::kInvalidArgument, "the ranks disagree on how many they are");
  }
  const Status sized = files.truncate(file->get(), size);
  if (!sized) return forward_error(sized);
  Result<io::Mapping> mapping = files.map(file->get(), size, io::MapAccess::kReadAndWrite);
  if (!mapping) return forward_error(mapping);
  std::shared_ptr<Meeting> meeting(new Meeting(std::move(*mapping), path, seat));
  const Status seated = meeting->sit_down(files);
  if (!seated) return forward_error(seated);
  return meeting;
}

Status Meeting::sit_down(io::Files& files) {
  const auto ranks = static_cast<std::uint32_t>(seat_.ranks);
  std::uint32_t none = 0;
  if (!head().ranks.compare_exchange_strong(none, ranks) && none != ranks) {
    return fail(ErrorCode::kInvalidArgument, "the ranks disagree on how many they are");
  }
  std::uint32_t free = 0;
  if (!place(seat_.rank).taken.compare_exchange_strong(free, 1)) {
    return fail(ErrorCode::kInvalidArgument, "two processes say that they are rank {}", seat_.rank);
  }
  place(seat_.rank).device = seat_.device;
  const std::uint32_t before = head().present.fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 == ranks) close(files);
  return {};
}

bool Meeting::complete() const {
  return head().present.load(std::memory_order_acquire) >= static_cast<unsigned>(seat_.ranks);
}

Seat Meeting::seat_of(int rank) const {
  return {.ranks = seat_.ranks, .rank = rank, .device = place(rank).device};
}

std::optional<std::pair<Seat, Seat>> Meeting::same_device() const {
  for (int rank = 1; rank < seat_.ranks; ++rank) {
    for (int other = 0; other < rank; ++other) {
      if (place(other).device == place(rank).device) return {{seat_of(other), seat_of(rank)}};
    }
  }
  return std::nullopt;
}

void Meeting::close(io::Files& files) {
  // Gone already is as good.
  static_cast<void>(files.remove(path_));
}

void Meeting::announce(std::uint64_t collective, const Arrival& arrival) {
  publish(collective_slot(collective, seat_.rank), collective, arrival);
}

std::optional<Arrival> Meeting::announced(std::uint64_t collective, int rank) const {
  return published(collective_slot(collective, rank), collective);
}

bool Meeting::send(std::uint64_t number, int to, const Arrival& arrival) {
  Slot& slot = message_slot(number, seat_.rank, to);
  const bool free = number < kMessages ||
                    slot.acknowledged.load(std::memory_order_acquire) == number - kMessages + 1;
  if (free) publish(slot, number, arrival);
  return free;
}

std::optional<Arrival> Meeting::sent(std::uint64_t number, int from) const {
  return published(message_slot(number, from, seat_.rank), number);
}

void Meeting::acknowledge(std::uint64_t number, int from, std::int64_t reached_ns) {
  Slot& slot = message_slot(number, from, seat_.rank);
  slot.acknowledged_ns = reached_ns;
  slot.acknowledged.store(number + 1, std::memory_order_release);
}

std::optional<std::int64_t> Meeting::acknowledged(std::uint64_t number, int to) const {
  const Slot& slot = message_slot(number, seat_.rank, to);
  if (slot.acknowledged.load(std::memory_order_acquire) != number + 1) return std::nullopt;
  return slot.acknowledged_ns;
}

void Meeting::cast(std::uint64_t round, std::array<std::int64_t, 2> words) {
  Ballot& own = ballot(round, seat_.rank);
  own.words = words;
  own.cast.store(round + 1, std::memory_order_release);
}

std::optional<std::array<std::int64_t, 2>> Meeting::cast_by(std::uint64_t round, int rank) const {
  const Ballot& other = ballot(round, rank);
  if (other.cast.load(std::memory_order_acquire) != round + 1) return std::nullopt;
  return other.words;
}

void Meeting::publish(Slot& slot, std::uint64_t number, const Arrival& arrival) {
  slot.reached_ns = arrival.reached_ns;
  slot.digest = arrival.digest;
  slot.bytes = std::min(arrival.carried.size(), kCarriedBytes);
  std::copy_n(arrival.carried.begin(), slot.bytes, slot.carried.begin());
  slot.published.store(number + 1, std::memory_order_release);
}

std::optional<Arrival> Meeting::published(const Slot& slot, std::uint64_t number) {
  if (slot.published.load(std::memory_order_acquire) != number + 1) return std::nullopt;
  const std::size_t bytes = std::min<std::size_t>(slot.bytes, kCarriedBytes);
  return Arrival{.reached_ns = slot.reached_ns,
                 .digest = slot.digest,
                 .carried = std::span(slot.carried).first(bytes)};
}

// The file: a Head, the Places, two Ballots and two Slots a rank, then the messages' Slots. Its
// bytes are what all ranks' processes agree on, as they run the same library.

Meeting::Head& Meeting::head() const { return *std::launder(reinterpret_cast<Head*>(start_)); }

Meeting::Place& Meeting::place(int rank) const {
  return std::launder(reinterpret_cast<Place*>(start_ + sizeof(Head)))[rank];
}

Meeting::Ballot& Meeting::ballot(std::uint64_t round, int rank) const {
  std::byte* const first =
      start_ + sizeof(Head) + sizeof(Place) * static_cast<unsigned>(seat_.ranks);
  const auto ranks = static_cast<std::uint64_t>(seat_.ranks);
  return std::launder(
      reinterpret_cast<Ballot*>(first))[round % 2 * ranks + static_cast<unsigned>(rank)];
}

Meeting::Slot& Meeting::collective_slot(std::uint64_t number, int rank) const {
  const auto ranks = static_cast<std::uint64_t>(seat_.ranks);
  std::byte* const first = start_ + sizeof(Head) + ranks * (sizeof(Place) + 2 * sizeof(Ballot));
  return std::launder(
      reinterpret_cast<Slot*>(first))[number % 2 * ranks + static_cast<unsigned>(rank)];
}

Meeting::Slot& Meeting::message_slot(std::uint64_t number, int from, int to) const {
  const auto ranks = static_cast<std::uint64_t>(seat_.ranks);
  const std::uint64_t pair = static_cast<unsigned>(from) * ranks + static_cast<unsigned>(to);
  return (&collective_slot(0, 0))[2 * ranks + pair * kMessages + number % kMessages];
}

}  // namespace unstarve::emulated
