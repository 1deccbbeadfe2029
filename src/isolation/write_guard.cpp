#include "isolation/write_guard.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/unique_handle.h"
#include "isolation/write_filter.h"
#include "isolation/write_judge.h"

namespace unstarve::isolation {

namespace {

ChildFailure guard_failure(const char* step) {
  ChildFailure failed;
  failed.os_errno = errno;
  std::snprintf(failed.what, sizeof(failed.what), "cannot watch what a trial writes (%s)", step);
  return failed;
}

int install(const std::vector<sock_filter>& filter) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size());
  program.filter = const_cast<sock_filter*>(filter.data());  // the kernel only reads it
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

/// A message of one byte that carries one descriptor.
struct DescriptorMessage {
  DescriptorMessage() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
};

bool send_descriptor(int socket, int descriptor) {
  DescriptorMessage sent;
  cmsghdr* const header = CMSG_FIRSTHDR(&sent.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return ::sendmsg(socket, &sent.message, MSG_NOSIGNAL) == 1;
}

int receive_descriptor(int socket) {
  DescriptorMessage received;
  if (::recvmsg(socket, &received.message, MSG_CMSG_CLOEXEC) != 1) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&received.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

/// The kernel's structures may be longer than those that we know.
seccomp_notif_sizes notification_sizes() {
  seccomp_notif_sizes sizes{};
  ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
  sizes.seccomp_notif = std::max<std::uint16_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
  sizes.seccomp_notif_resp =
      std::max<std::uint16_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp));
  return sizes;
}

}  // namespace

struct WriteGuard::Impl {
  explicit Impl(std::vector<std::string> free) : filter(write_filter()), judge(std::move(free)) {}

  std::vector<sock_filter> filter;
  FileDescriptor ours;
  FileDescriptor theirs;
  FileDescriptor listener;
  FileDescriptor leave;  // an event: the watching is to end
  mutable Mutex mutex;
  WriteJudge judge UNSTARVE_GUARDED_BY(mutex);
  std::vector<std::string> refused UNSTARVE_GUARDED_BY(mutex);
  std::jthread watcher;

  /// In the child.
  ChildFailure enter() const {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return guard_failure("no_new_privs");
    const int notifications = install(filter);
    if (notifications < 0) return guard_failure("seccomp");
    if (!send_descriptor(theirs.get(), notifications)) return guard_failure("handing it over");
    ::close(notifications);
    return {};
  }

  void watch_until_left() {
    const seccomp_notif_sizes sizes = notification_sizes();
    // operator new aligns for both structures.
    std::vector<std::byte> request(sizes.seccomp_notif);
    std::vector<std::byte> response(sizes.seccomp_notif_resp);
    pollfd wanted[] = {{listener.get(), POLLIN, 0}, {leave.get(), POLLIN, 0}};
    while (true) {
      if (::poll(wanted, 2, -1) < 0 && errno != EINTR) return;
      // Nobody is left who could ask.
      if (wanted[1].revents != 0 || (wanted[0].revents & (POLLHUP | POLLERR)) != 0) return;
      if ((wanted[0].revents & POLLIN) != 0) answer_one(request, response);
    }
  }

  void answer_one(std::vector<std::byte>& request, std::vector<std::byte>& response) {
    std::fill(request.begin(), request.end(), std::byte{});
    std::fill(response.begin(), response.end(), std::byte{});
    auto* const asked = reinterpret_cast<seccomp_notif*>(request.data());
    if (::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, asked) != 0) return;  // it has ended
    WriteCall call = {static_cast<pid_t>(asked->pid), asked->data.nr, {}};
    std::copy(std::begin(asked->data.args), std::end(asked->data.args), call.arguments.begin());
    auto* const given = reinterpret_cast<seccomp_notif_resp*>(response.data());
    given->id = asked->id;
    given->error = -judged(call);
    if (given->error == 0) given->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, given);
  }

  int judged(const WriteCall& call) {
    const MutexLock lock(mutex);
    const WriteJudgement judgement = judge.judge(call);
    const std::string& path = judgement.refused;
    if (!path.empty() && refused.size() < kMostTold &&
        std::find(refused.begin(), refused.end(), path) == refused.end()) {
      refused.push_back(path);
    }
    return judgement.os_errno;
  }

  void stop() {
    if (!watcher.joinable()) return;
    const std::uint64_t increment = 1;
    static_cast<void>(!::write(leave.get(), &increment, sizeof(increment)));
    watcher.join();
    listener.reset();
  }

  ~Impl() { stop(); }
};

WriteGuard::WriteGuard(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WriteGuard::WriteGuard(WriteGuard&&) noexcept = default;
WriteGuard& WriteGuard::operator=(WriteGuard&&) noexcept = default;
WriteGuard::~WriteGuard() = default;

Result<WriteGuard> WriteGuard::prepare(std::vector<std::string> free) {
  std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    return fail(ErrorCode::kNotSupported, "this kernel hands no system calls over (seccomp): {}",
                ::strerror(errno));
  }
  auto impl = std::make_unique<Impl>(std::move(free));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno(errno, "cannot make a socket for a trial");
  }
  impl->ours.reset(ends[0]);
  impl->theirs.reset(ends[1]);
  impl->leave.reset(::eventfd(0, EFD_CLOEXEC));
  if (!impl->leave) return fail_errno(errno, "cannot make an event for a trial");
  return WriteGuard(std::move(impl));
}

ChildEntry WriteGuard::entry() const {
  return [impl = impl_.get()] { return impl->enter(); };
}

Status WriteGuard::watch() {
  impl_->theirs.reset();  // the end of the child's is the end
  impl_->listener.reset(receive_descriptor(impl_->ours.get()));
  if (!impl_->listener) {
    return fail(ErrorCode::kNotSupported, "what the trial writes cannot be watched (seccomp)");
  }
  impl_->watcher = std::jthread([impl = impl_.get()] { impl->watch_until_left(); });
  return {};
}

std::vector<std::string> WriteGuard::refused() const {
  const MutexLock lock(impl_->mutex);
  return impl_->refused;
}

void WriteGuard::end() {
  impl_->stop();
  const MutexLock lock(impl_->mutex);
  impl_->judge.take_away();
}

}  // namespace unstarve::isolation
