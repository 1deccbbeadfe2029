#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "serve/http/message.h"

namespace unstarve::serve {

/// Answers requests one after the other on a thread of its own, so that whoever asks over the
/// network waits for what is read, and the server's loop for nobody. What answers needs no lock:
/// it is called on this thread alone. Thread rule: one other thread asks and takes.
class AnsweringThread {
 public:
  using Handler = std::function<Reply(const Request&)>;
  using Answer = std::pair<std::uint64_t, Reply>;

  /// Errors: the system gives no thread.
  static Result<std::unique_ptr<AnsweringThread>> start(Handler handler);
  /// Waits for what is being answered; what was asked behind it stays without an answer.
  ~AnsweringThread();
  AnsweringThread(const AnsweringThread&) = delete;
  AnsweringThread& operator=(const AnsweringThread&) = delete;

  /// `number` comes back with the answer. False: too many wait.
  bool ask(std::uint64_t number, Request request);
  /// What was answered since the last call.
  std::vector<Answer> take();
  /// Can be read where take() has something.
  int ready_fd() const { return ready_.get(); }

 private:
  explicit AnsweringThread(Handler handler) : handler_(std::move(handler)) {}
  void work(const std::stop_token& stop);
  Reply answer(const Request& request) const;

  Handler handler_;
  FileDescriptor ready_;  // an eventfd
  Mutex mutex_;
  CondVar asked_;
  std::deque<std::pair<std::uint64_t, Request>> questions_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ UNSTARVE_GUARDED_BY(mutex_);
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace unstarve::serve
