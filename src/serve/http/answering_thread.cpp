#include "serve/http/answering_thread.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <system_error>

namespace unstarve::serve {

namespace {

/// Browsers ask for six things at a time; each waits for seconds at most.
constexpr std::size_t kWaitingMax = 512;

}  // namespace

Result<std::unique_ptr<AnsweringThread>> AnsweringThread::start(Handler handler) {
  std::unique_ptr<AnsweringThread> made(new AnsweringThread(std::move(handler)));
  made->ready_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->ready_) return fail_errno(errno, "no eventfd for a server");
  // Signals are the first thread's.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = 0;
  try {
    made->thread_ =
        std::jthread([self = made.get()](const std::stop_token& stop) { self->work(stop); });
  } catch (const std::system_error& error) {
    failed = error.code().value();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return fail_errno(failed, "no thread for a server");
  return made;
}

AnsweringThread::~AnsweringThread() = default;

bool AnsweringThread::ask(std::uint64_t number, Request request) {
  const MutexLock lock(mutex_);
  if (questions_.size() >= kWaitingMax) return false;
  questions_.emplace_back(number, std::move(request));
  asked_.notify_one();
  return true;
}

std::vector<AnsweringThread::Answer> AnsweringThread::take() {
  std::uint64_t count = 0;
  (void)!::read(ready_.get(), &count, sizeof(count));
  const MutexLock lock(mutex_);
  return std::exchange(answers_, {});
}

void AnsweringThread::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::pair<std::uint64_t, Request> question;
    {
      const MutexLock lock(mutex_);
      const bool is_asked = asked_.wait(
          mutex_, stop, [this]() UNSTARVE_REQUIRES(mutex_) { return !questions_.empty(); });
      if (!is_asked || stop.stop_requested()) return;
      question = std::move(questions_.front());
      questions_.pop_front();
    }
    Reply reply = answer(question.second);
    {
      const MutexLock lock(mutex_);
      answers_.emplace_back(question.first, std::move(reply));
    }
    const std::uint64_t one = 1;
    (void)!::write(ready_.get(), &one, sizeof(one));
  }
}

Reply AnsweringThread::answer(const Request& request) const {
  try {
    return handler_(request);
  } catch (const std::exception& error) {  // most likely of memory: other answers may be smaller
    return refuse(500, std::string("this cannot be answered: ") + error.what());
  }
}

}  // namespace unstarve::serve
