#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/http/access.h"
#include "serve/http/answering_thread.h"
#include "serve/http/message.h"

struct evhttp_request;

namespace unstarve::serve {

/// An HTTP server whose loop never waits. What it sends lies in buffers that the kernel takes from
/// as a browser reads, so that a slow one costs memory and nobody's time; a stream that is read too
/// slowly is ended. Requests are answered by another thread. Only GET and HEAD are answered. Thread
/// rule: one thread.
class HttpServer {
 public:
  struct Options {
    AccessRules access;  // `host` is listened at
    int port = 0;        // 0: one that is free
    std::string stream;  // the path whose reply goes on, with whatever news there are; empty: none
  };
  using Handler = AnsweringThread::Handler;

  /// Listens from here on. `handler` is called on a thread of its own. Errors: the address cannot
  /// be used.
  static Result<std::unique_ptr<HttpServer>> open(Options options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  /// Answers until `is_stopped`, which is asked four times a second. `news` is asked once a second
  /// where anybody has a stream open, and sent to all of them; an empty text is not.
  Status run(const std::function<bool()>& is_stopped, const std::function<std::string()>& news);

 private:
  struct Loop;  // libevent's own
  HttpServer(Options options, std::unique_ptr<Loop> loop,
             std::unique_ptr<AnsweringThread> answering);
  Status listen();
  void answer(evhttp_request* request);
  void send_answers();
  void send(evhttp_request* request, const Reply& reply);
  void begin_stream(evhttp_request* request);
  void tell_streams(const std::string& news);

  Options options_;
  std::unique_ptr<Loop> loop_;
  int port_ = 0;
  std::map<std::uint64_t, evhttp_request*> waiting_;  // libevent's, by their numbers
  std::uint64_t last_number_ = 0;
  std::vector<evhttp_request*> streams_;  // libevent's
  std::string last_news_;                 // what a new stream begins with
  std::int64_t quiet_s_ = 0;              // since anything was sent to the streams
  std::unique_ptr<AnsweringThread> answering_;
};

}  // namespace unstarve::serve
