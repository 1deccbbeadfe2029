#include "emulated/collective/member.h"

#include <algorithm>
#include <utility>

namespace unstarve::emulated {

/// When one operation of a rank ends.
class Member::TaskGate final : public Gate {
 public:
  TaskGate(std::shared_ptr<Member> member, Tasks tasks, Numbers numbers)
      : member_(std::move(member)),
        tasks_(std::move(tasks)),
        numbers_(std::move(numbers)),
        begins_(tasks_.messages.size()),
        sent_(tasks_.messages.size()) {}

  std::optional<std::int64_t> ask(std::int64_t reached_ns) override;
  std::shared_ptr<Gate> again() override;

 private:
  std::optional<std::int64_t> collectives_begin(std::int64_t reached_ns);
  std::optional<std::int64_t> message_begins(std::size_t index, std::int64_t reached_ns);
  std::optional<std::int64_t> receive_begins(std::size_t index, std::int64_t reached_ns);
  std::optional<std::int64_t> send_begins(std::size_t index, std::int64_t reached_ns);
  void deliver(const std::vector<Arrival>& arrivals);

  const std::shared_ptr<Member> member_;
  Tasks tasks_;
  const Numbers numbers_;
  bool announced_ = false;
  std::optional<std::int64_t> collectives_begin_;
  std::vector<std::optional<std::int64_t>> begins_;  // of the messages
  std::vector<bool> sent_;
};

std::optional<std::int64_t> Member::TaskGate::ask(std::int64_t reached_ns) {
  if (member_->aborted()) return reached_ns;
  const std::optional<std::int64_t> from_ns = member_->turn(numbers_.order, reached_ns);
  if (!from_ns) return std::nullopt;
  if (!tasks_.collectives.empty() && !collectives_begin_) {
    collectives_begin_ = collectives_begin(*from_ns);
  }
  bool all_begun = tasks_.collectives.empty() || collectives_begin_;
  std::int64_t begin_ns = collectives_begin_.value_or(*from_ns);
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    if (!begins_[i]) begins_[i] = message_begins(i, *from_ns);
    all_begun = all_begun && begins_[i];
    begin_ns = std::max(begin_ns, begins_[i].value_or(begin_ns));
  }
  if (!all_begun) return std::nullopt;
  const Timing& timing = member_->timing_;
  const std::int64_t end_ns =
      begin_ns + timing.fixed_ns +
      duration_ns(tasks_.collectives, member_->meeting_->seat().ranks, timing.link) +
      duration_ns(tasks_.messages, timing.link);
  member_->end(numbers_.order, end_ns);
  return end_ns;
}

std::shared_ptr<Gate> Member::TaskGate::again() { return member_->begin(tasks_); }

std::optional<std::int64_t> Member::TaskGate::collectives_begin(std::int64_t reached_ns) {
  Meeting& meeting = *member_->meeting_;
  const std::uint64_t digest = digest_of(tasks_.collectives);
  if (!announced_) {
    const std::vector<std::byte> carried = pack(tasks_.collectives);
    meeting.announce(numbers_.collective,
                     {.reached_ns = reached_ns, .digest = digest, .carried = carried});
    announced_ = true;
  }
  std::vector<Arrival> arrivals;
  for (int rank = 0; rank < meeting.seat().ranks; ++rank) {
    const std::optional<Arrival> arrival = meeting.announced(numbers_.collective, rank);
    if (!arrival) return std::nullopt;
    if (arrival->digest != digest) {
      member_->fail("ranks " + std::to_string(meeting.seat().rank) + " and " +
                    std::to_string(rank) + " called different collectives, or for other sizes");
      return std::nullopt;
    }
    arrivals.push_back(*arrival);
    reached_ns = std::max(reached_ns, arrival->reached_ns);
  }
  deliver(arrivals);
  return reached_ns;
}

void Member::TaskGate::deliver(const std::vector<Arrival>& arrivals) {
  std::vector<std::vector<Contribution>> brought(tasks_.collectives.size());
  bool any = false;
  for (const Arrival& arrival : arrivals) {
    const std::vector<Contribution> parts = unpack(arrival.carried, brought.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      any = any || !parts[i].bytes.empty();
      brought[i].push_back(parts[i]);
    }
  }
  if (!any) return;
  for (std::size_t i = 0; i < brought.size(); ++i) {
    const CollectiveTask& task = tasks_.collectives[i];
    if (task.result)
      fill(*task.result, result_of(task, member_->meeting_->seat().rank, brought[i]));
  }
}

std::optional<std::int64_t> Member::TaskGate::message_begins(std::size_t index,
                                                             std::int64_t reached_ns) {
  return tasks_.messages[index].receives ? receive_begins(index, reached_ns)
                                         : send_begins(index, reached_ns);
}

std::optional<std::int64_t> Member::TaskGate::receive_begins(std::size_t index,
                                                             std::int64_t reached_ns) {
  const MessageTask& task = tasks_.messages[index];
  const std::uint64_t number = numbers_.messages[index];
  const std::optional<Arrival> arrival = member_->meeting_->sent(number, task.peer);
  if (!arrival) return std::nullopt;
  if (arrival->digest != task.bytes) {
    member_->fail("rank " + std::to_string(task.peer) + " sent " + std::to_string(arrival->digest) +
                  " bytes where " + std::to_string(task.bytes) + " were to be received");
    return std::nullopt;
  }
  if (task.result) fill(*task.result, arrival->carried);
  const std::int64_t begin_ns = std::max(reached_ns, arrival->reached_ns);
  member_->meeting_->acknowledge(number, task.peer, reached_ns);
  return begin_ns;
}

std::optional<std::int64_t> Member::TaskGate::send_begins(std::size_t index,
                                                          std::int64_t reached_ns) {
  const MessageTask& task = tasks_.messages[index];
  const std::uint64_t number = numbers_.messages[index];
  if (!sent_[index]) {
    const std::vector<std::byte> carried = known_bytes(task.known, task.bytes);
    sent_[index] = member_->meeting_->send(
        number, task.peer, {.reached_ns = reached_ns, .digest = task.bytes, .carried = carried});
    if (!sent_[index]) return std::nullopt;
  }
  if (task.bytes <= kCarriedBytes) return reached_ns;
  const std::optional<std::int64_t> taken_ns = member_->meeting_->acknowledged(number, task.peer);
  if (!taken_ns) return std::nullopt;
  return std::max(reached_ns, *taken_ns);
}

Member::Member(std::shared_ptr<Meeting> meeting, const Timing& timing)
    : meeting_(std::move(meeting)),
      timing_(timing),
      sends_(static_cast<std::size_t>(meeting_->seat().ranks)),
      receives_(sends_.size()) {}

std::shared_ptr<Gate> Member::begin(Tasks tasks) {
  Numbers numbers = number(tasks);
  if (tell_begun_) tell_begun_();
  return std::make_shared<TaskGate>(shared_from_this(), std::move(tasks), std::move(numbers));
}

std::shared_ptr<Gate> Member::pattern(Tasks tasks) {
  for (CollectiveTask& task : tasks.collectives) {
    task.known.clear();
    task.result = nullptr;
  }
  for (MessageTask& task : tasks.messages) {
    task.known.clear();
    task.result = nullptr;
  }
  return std::make_shared<TaskGate>(shared_from_this(), std::move(tasks), Numbers{});
}

Member::Numbers Member::number(const Tasks& tasks) {
  const MutexLock lock(mutex_);
  Numbers numbers;
  numbers.order = begun_++;
  if (!tasks.collectives.empty()) numbers.collective = collectives_++;
  for (const MessageTask& task : tasks.messages) {
    std::vector<std::uint64_t>& counters = task.receives ? receives_ : sends_;
    numbers.messages.push_back(counters[static_cast<std::size_t>(task.peer)]++);
  }
  return numbers;
}

std::optional<std::int64_t> Member::turn(std::uint64_t order, std::int64_t reached_ns) const {
  const MutexLock lock(mutex_);
  if (ended_ != order) return std::nullopt;
  return std::max(reached_ns, last_end_ns_);
}

void Member::end(std::uint64_t order, std::int64_t end_ns) {
  const MutexLock lock(mutex_);
  ended_ = order + 1;
  last_end_ns_ = end_ns;
}

void Member::abort() {
  const MutexLock lock(mutex_);
  aborted_ = true;
}

bool Member::aborted() const {
  const MutexLock lock(mutex_);
  return aborted_;
}

void Member::fail(std::string why) {
  const MutexLock lock(mutex_);
  if (!failure_) failure_ = std::move(why);
}

std::optional<std::string> Member::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

bool Member::idle() const {
  const MutexLock lock(mutex_);
  return aborted_ || begun_ == ended_;
}

}  // namespace unstarve::emulated
