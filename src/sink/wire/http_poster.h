#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/result.h"

namespace unstarve::sink {

/// Posts texts to a server, in their order. One that is not taken is tried again with the next; of
/// those that wait the oldest are dropped, and counted. Thread rule: one thread at a time.
class HttpPoster {
 public:
  static constexpr std::size_t kWaitingMax = 64;
  static constexpr int kPatienceS = 5;  // with one post

  /// `address`: "http://HOST:PORT/PATH". Errors: kInvalidArgument for another; kNotSupported for
  /// "https://", which this does not speak.
  static Result<std::unique_ptr<HttpPoster>> open(const std::string& address);
  ~HttpPoster();
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  void add(std::string body);
  /// Posts what waits, until one is not taken.
  void send();
  /// The same, once more. Errors: something was not taken at all, and why.
  Status finish();

 private:
  struct Impl;
  explicit HttpPoster(std::unique_ptr<Impl> impl);
  /// Errors: no answer; one that is none of 2xx.
  Status post(const std::string& body);

  std::unique_ptr<Impl> impl_;
  std::deque<std::string> waiting_;
  std::int64_t dropped_ = 0;
  std::string why_not_;  // the last time
};

}  // namespace unstarve::sink
