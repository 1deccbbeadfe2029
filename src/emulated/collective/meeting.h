#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/io/files.h"
#include "base/io/mapping.h"
#include "base/result.h"

namespace unstarve::emulated {

/// Most bytes that really travel from one rank to another in one operation; what is larger arrives
/// as zeros, as all results of the emulation are.
inline constexpr std::size_t kCarriedBytes = 65536;

/// One rank of a communicator, as the others know it.
struct Seat {
  int ranks = 0;
  int rank = 0;
  int device = 0;  // the machine's number of the GPU
};

/// What a rank says when its stream has come to an operation.
struct Arrival {
  std::int64_t reached_ns = 0;
  std::uint64_t digest = 0;  // of what the operation is; all ranks must mean the same
  std::span<const std::byte> carried =
      {};  // at most kCarriedBytes; while the slot is not used again
};

/// The memory that the ranks of one communicator share, processes or threads of one machine: a file
/// that goes when the last of them has come. All of it starts as zeros, and whoever comes first
/// makes it; a rank that dies leaves nothing that another waits for in vain except its own word.
///
/// Collectives are numbered 0, 1, ... by each rank. Two slots a rank are enough: nobody announces
/// number n+2 before all have announced n+1, and no rank does that before it has read all of n.
/// Messages are numbered by each pair of ranks in each direction.
///
/// Thread rule: any thread; at most one at a time speaks for a rank.
class Meeting {
 public:
  /// Takes a seat in the meeting of this file. kInvalidArgument: another number of ranks, or the
  /// seat is taken.
  static Result<std::shared_ptr<Meeting>> join(const std::string& path, const Seat& seat,
                                               io::Files& files);

  const Seat& seat() const { return seat_; }
  bool complete() const;
  /// Of a complete meeting.
  Seat seat_of(int rank) const;
  /// Two ranks with the same GPU, if there are.
  std::optional<std::pair<Seat, Seat>> same_device() const;
  /// Nobody else shall come by this path. For one who gives up before the meeting is complete.
  void close(io::Files& files);

  void announce(std::uint64_t collective, const Arrival& arrival);
  /// What a rank announced of the present or the last collective.
  std::optional<Arrival> announced(std::uint64_t collective, int rank) const;

  /// Message `number` for another rank; false: the receiver has yet to take older ones.
  bool send(std::uint64_t number, int to, const Arrival& arrival);
  /// What another rank sent; stays until it is acknowledged.
  std::optional<Arrival> sent(std::uint64_t number, int from) const;
  void acknowledge(std::uint64_t number, int from, std::int64_t reached_ns);
  /// When the receiver's stream came to it; nothing before it is acknowledged.
  std::optional<std::int64_t> acknowledged(std::uint64_t number, int to) const;

  /// Two words of each rank that all get, without any stream: round 0, 1, ...; as collectives.
  void cast(std::uint64_t round, std::array<std::int64_t, 2> words);
  std::optional<std::array<std::int64_t, 2>> cast_by(std::uint64_t round, int rank) const;

 private:
  struct Head;
  struct Place;
  struct Slot;
  struct Ballot;
  static constexpr std::uint64_t kMessages = 4;  // of a pair, that nobody took yet

  Meeting(io::Mapping mapping, std::string path, const Seat& seat);
  static std::size_t size_for(int ranks);
  Status sit_down(io::Files& files);
  Head& head() const;
  Place& place(int rank) const;
  Slot& collective_slot(std::uint64_t number, int rank) const;
  Slot& message_slot(std::uint64_t number, int from, int to) const;
  Ballot& ballot(std::uint64_t round, int rank) const;
  static void publish(Slot& slot, std::uint64_t number, const Arrival& arrival);
  static std::optional<Arrival> published(const Slot& slot, std::uint64_t number);

  io::Mapping mapping_;
  std::byte* const start_;
  const std::string path_;
  const Seat seat_;
};

}  // namespace unstarve::emulated
