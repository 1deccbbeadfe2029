#include "sink/wire/http_poster.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fmt/format.h>

#include <utility>

#include "base/unique_handle.h"
#include "sink/wire/event_handles.h"

namespace unstarve::sink {

namespace {

struct UriTraits {
  using Handle = evhttp_uri*;
  static Handle invalid() { return nullptr; }
  static void close(Handle uri) noexcept { evhttp_uri_free(uri); }
};
struct ConnectionTraits {
  using Handle = evhttp_connection*;
  static Handle invalid() { return nullptr; }
  static void close(Handle connection) noexcept { evhttp_connection_free(connection); }
};

/// What came of one post.
struct Outcome {
  event_base* base = nullptr;
  int status = 0;  // of HTTP; 0: no answer
};

void note_answer(evhttp_request* request, void* arg) {
  auto* const outcome = static_cast<Outcome*>(arg);
  if (request != nullptr) outcome->status = evhttp_request_get_response_code(request);
  event_base_loopbreak(outcome->base);
}

}  // namespace

struct HttpPoster::Impl {
  std::string address;
  std::string host;
  std::string path;
  int port = 80;
  EventBase base;
};

HttpPoster::HttpPoster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpPoster::~HttpPoster() = default;

Result<std::unique_ptr<HttpPoster>> HttpPoster::open(const std::string& address) {
  const UniqueHandle<UriTraits> uri(evhttp_uri_parse(address.c_str()));
  const char* const scheme = uri ? evhttp_uri_get_scheme(uri.get()) : nullptr;
  const char* const host = uri ? evhttp_uri_get_host(uri.get()) : nullptr;
  if (scheme != nullptr && std::string_view(scheme) == "https") {
    return fail(ErrorCode::kNotSupported,
                "{}: only http:// is spoken; a collector on this machine can pass it on", address);
  }
  if (scheme == nullptr || std::string_view(scheme) != "http" || host == nullptr || *host == 0) {
    return fail(ErrorCode::kInvalidArgument, "{} is no address such as http://127.0.0.1:4318/path",
                address);
  }
  auto impl = std::make_unique<Impl>();
  impl->address = address;
  impl->host = host;
  if (const int port = evhttp_uri_get_port(uri.get()); port > 0) impl->port = port;
  const char* const path = evhttp_uri_get_path(uri.get());
  impl->path = path == nullptr || *path == 0 ? "/" : path;
  event_set_log_callback([](int, const char*) {});  // libevent would print
  impl->base.reset(event_base_new());
  if (!impl->base) return fail(ErrorCode::kOutOfMemory, "no memory for posting to {}", address);
  return std::unique_ptr<HttpPoster>(new HttpPoster(std::move(impl)));
}

void HttpPoster::add(std::string body) {
  waiting_.push_back(std::move(body));
  if (waiting_.size() <= kWaitingMax) return;
  waiting_.pop_front();
  ++dropped_;
}

void HttpPoster::send() {
  while (!waiting_.empty()) {
    if (const Status posted = post(waiting_.front()); !posted) {
      why_not_ = posted.error().message;
      return;
    }
    waiting_.pop_front();
  }
}

Status HttpPoster::finish() {
  send();
  const std::int64_t lost = dropped_ + static_cast<std::int64_t>(waiting_.size());
  if (lost == 0) return {};
  return fail(ErrorCode::kIo, "{} did not take {} of the requests: {}", impl_->address, lost,
              why_not_);
}

Status HttpPoster::post(const std::string& body) {
  event_base* const base = impl_->base.get();
  const UniqueHandle<ConnectionTraits> connection(evhttp_connection_base_new(
      base, nullptr, impl_->host.c_str(), static_cast<ev_uint16_t>(impl_->port)));
  if (!connection) return fail(ErrorCode::kIo, "no connection to {}", impl_->host);
  evhttp_connection_set_timeout(connection.get(), kPatienceS);
  Outcome outcome = {base, 0};
  evhttp_request* const request = evhttp_request_new(&note_answer, &outcome);
  if (request == nullptr) return fail(ErrorCode::kOutOfMemory, "no memory for a request");
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Host", fmt::format("{}:{}", impl_->host, impl_->port).c_str());
  evhttp_add_header(headers, "Content-Type", "application/json");
  evhttp_add_header(headers, "Connection", "close");
  evbuffer_add(evhttp_request_get_output_buffer(request), body.data(), body.size());
  // It owns the request from here on.
  if (evhttp_make_request(connection.get(), request, EVHTTP_REQ_POST, impl_->path.c_str()) != 0) {
    return fail(ErrorCode::kIo, "no request could be made of it");
  }
  event_base_dispatch(base);
  constexpr int kHundred = 100;
  if (outcome.status / kHundred == 2) return {};
  if (outcome.status == 0) return fail(ErrorCode::kIo, "there is no answer");
  return fail(ErrorCode::kIo, "it answers {}", outcome.status);
}

}  // namespace unstarve::sink
