#include "serve/http/http_server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/unique_handle.h"
#include "sink/wire/event_handles.h"

namespace unstarve::serve {

namespace {

constexpr int kHeaderBytesMax = 16 * 1024;
constexpr int kBodyBytesMax = 1024;  // nothing that is answered has one
constexpr int kPatienceS = 60;       // with a browser that neither asks nor reads
constexpr std::size_t kStreamsMax = 2000;
/// What a stream's reader may lag behind.
constexpr std::size_t kUnreadBytesMax = 512 * 1024;
/// So often a stream is sent something, by which it is seen whether anybody is there.
constexpr std::int64_t kSignOfLifeS = 15;

struct HttpTraits {
  using Handle = evhttp*;
  static Handle invalid() { return nullptr; }
  static void close(Handle http) noexcept { evhttp_free(http); }
};
struct EventTraits {
  using Handle = event*;
  static Handle invalid() { return nullptr; }
  static void close(Handle one) noexcept { event_free(one); }
};
struct BufferTraits {
  using Handle = evbuffer*;
  static Handle invalid() { return nullptr; }
  static void close(Handle buffer) noexcept { evbuffer_free(buffer); }
};

/// Each stream is an open file; the usual limit of 1,024 is for programs that use select().
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string_view header_of(evhttp_request* request, const char* name) {
  const char* const value = evhttp_find_header(evhttp_request_get_input_headers(request), name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// False for an address that is none.
bool parse_request(evhttp_request* request, Request& parsed) {
  const evhttp_uri* const uri = evhttp_request_get_evhttp_uri(request);
  const char* const path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
  if (path == nullptr) return false;
  parsed.path = path;
  const char* const query = evhttp_uri_get_query(uri);
  if (query == nullptr) return true;
  evkeyvalq pairs{};
  if (evhttp_parse_query_str(query, &pairs) != 0) return false;
  for (const evkeyval* pair = pairs.tqh_first; pair != nullptr; pair = pair->next.tqe_next) {
    parsed.query.emplace_back(pair->key, pair->value);
  }
  evhttp_clear_headers(&pairs);
  return true;
}

/// The address without the token.
std::string address_of(const Request& request) {
  std::string address = request.path;
  char mark = '?';
  const auto encoded = [](const std::string& text) {
    char* const made = evhttp_uriencode(text.data(), static_cast<ev_ssize_t>(text.size()), 0);
    std::string result = made == nullptr ? "" : made;
    std::free(made);  // NOLINT(cppcoreguidelines-no-malloc): libevent's
    return result;
  };
  for (const auto& [name, value] : request.query) {
    if (name == "token") continue;
    address += mark + encoded(name) + "=" + encoded(value);
    mark = '&';
  }
  // "//other.site" would be an address elsewhere.
  return address.substr(0, 2) == "//" ? "/" : address;
}

/// As server-sent events have it: a prefix before each line, an empty line behind them.
std::string event_of(std::string_view text) {
  std::string event = "data: ";
  for (const char c : text) {
    event += c;
    if (c == '\n') event += "data: ";
  }
  return event + "\n\n";
}

timeval seconds_of(double seconds) {
  constexpr double kMillion = 1e6;
  timeval time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(time.tv_sec)) * kMillion);
  return time;
}

/// A request whose browser has left is its handler's alone.
void free_if_left(evhttp_request* request) {
  if (evhttp_request_get_connection(request) == nullptr) evhttp_request_free(request);
}

/// Calls a function whenever a descriptor can be read, until it is destroyed.
class Watch {
 public:
  Watch(event_base* base, int fd, std::function<void()> react) : react_(std::move(react)) {
    event_.reset(event_new(base, fd, EV_READ | EV_PERSIST, &Watch::call, this));
    if (event_) event_add(event_.get(), nullptr);
  }

 private:
  static void call(evutil_socket_t, short, void* self) { static_cast<Watch*>(self)->react_(); }
  std::function<void()> react_;
  UniqueHandle<EventTraits> event_;
};

/// Calls a function again and again, until it is destroyed.
class Ticker {
 public:
  Ticker(event_base* base, double every_s, std::function<void()> tick) : tick_(std::move(tick)) {
    event_.reset(event_new(base, -1, EV_PERSIST, &Ticker::call, this));
    const timeval every = seconds_of(every_s);
    if (event_) event_add(event_.get(), &every);
  }

 private:
  static void call(evutil_socket_t, short, void* self) { static_cast<Ticker*>(self)->tick_(); }
  std::function<void()> tick_;
  UniqueHandle<EventTraits> event_;
};

}  // namespace

struct HttpServer::Loop {
  sink::EventBase base;
  UniqueHandle<HttpTraits> http;  // before `base` is freed
};

HttpServer::HttpServer(Options options, std::unique_ptr<Loop> loop,
                       std::unique_ptr<AnsweringThread> answering)
    : options_(std::move(options)), loop_(std::move(loop)), answering_(std::move(answering)) {}

HttpServer::~HttpServer() {
  // libevent frees those whose browser is still there.
  for (const auto& [number, request] : waiting_) free_if_left(request);
  for (evhttp_request* const request : streams_) free_if_left(request);
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(Options options, Handler handler) {
  // libevent would print. A browser that leaves is an error of the write: SIGPIPE is the program's.
  event_set_log_callback([](int, const char*) {});
  allow_many_files();
  auto loop = std::make_unique<Loop>();
  loop->base.reset(event_base_new());
  if (loop->base) loop->http.reset(evhttp_new(loop->base.get()));
  if (!loop->http) return fail(ErrorCode::kOutOfMemory, "no memory for an HTTP server");
  auto answering = AnsweringThread::start(std::move(handler));
  if (!answering) return forward_error(answering);
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(options), std::move(loop), *std::move(answering)));
  if (const Status listens = server->listen(); !listens) return forward_error(listens);
  return server;
}

Status HttpServer::listen() {
  evhttp* const http = loop_->http.get();
  evhttp_set_max_headers_size(http, kHeaderBytesMax);
  evhttp_set_max_body_size(http, kBodyBytesMax);
  evhttp_set_timeout(http, kPatienceS);
  evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
  evhttp_set_gencb(
      http,
      [](evhttp_request* request, void* self) { static_cast<HttpServer*>(self)->answer(request); },
      this);
  const std::string& host = options_.access.host;
  const char* const numeric = host == "localhost" ? "127.0.0.1" : host.c_str();
  evhttp_bound_socket* const bound =
      evhttp_bind_socket_with_handle(http, numeric, static_cast<ev_uint16_t>(options_.port));
  if (bound == nullptr) {
    return fail_errno(errno, fmt::format("cannot listen at {} port {}", host, options_.port));
  }
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address),
                    &size) != 0) {
    return fail_errno(errno, "the server's own address");
  }
  port_ = ntohs(address.ss_family == AF_INET6
                    ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                    : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  return {};
}

void HttpServer::answer(evhttp_request* request) {
  Request parsed;
  if (!parse_request(request, parsed)) return send(request, refuse(400, "no such address"));
  const Credentials credentials = {header_of(request, "Host"), header_of(request, "Authorization"),
                                   header_of(request, "Cookie"), parsed.value("token")};
  switch (check_access(options_.access, credentials)) {
    case Access::kGranted: break;
    case Access::kGrantedByAddress: {
      evkeyvalq* const headers = evhttp_request_get_output_headers(request);
      evhttp_add_header(headers, "Set-Cookie",
                        fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", kTokenCookie,
                                    parsed.value("token"))
                            .c_str());
      evhttp_add_header(headers, "Location", address_of(parsed).c_str());
      return send(request, refuse(303, "the token is kept"));
    }
    case Access::kWrongHost:
      return send(request, refuse(403, "ask for localhost: this server is for its machine alone"));
    case Access::kNoToken:
      return send(request, refuse(401,
                                  "open the address that `unstarve serve` printed, with its "
                                  "token"));
  }
  const bool is_stream = !options_.stream.empty() && parsed.path == options_.stream;
  if (is_stream && evhttp_request_get_command(request) == EVHTTP_REQ_GET) {
    return begin_stream(request);
  }
  if (is_stream) return send(request, Reply());
  if (!answering_->ask(++last_number_, std::move(parsed))) {
    return send(request, refuse(503, "too much is asked for at once"));
  }
  waiting_.emplace(last_number_, request);
}

void HttpServer::send_answers() {
  for (const auto& [number, reply] : answering_->take()) {
    const auto waiting = waiting_.find(number);
    if (waiting == waiting_.end()) continue;
    // Where the browser has left, this frees the request.
    send(waiting->second, reply);
    waiting_.erase(waiting);
  }
}

void HttpServer::send(evhttp_request* request, const Reply& reply) {
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", reply.type.c_str());
  evhttp_add_header(headers, "Content-Security-Policy", reply.policy.c_str());
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
  evhttp_add_header(headers, "Cross-Origin-Resource-Policy", "same-origin");
  evhttp_add_header(headers, "Cache-Control", reply.may_keep ? "max-age=3600" : "no-store");
  if (!reply.file_name.empty()) {
    evhttp_add_header(headers, "Content-Disposition",
                      fmt::format("attachment; filename=\"{}\"", reply.file_name).c_str());
  }
  const UniqueHandle<BufferTraits> body(evbuffer_new());
  if (!body || evbuffer_add(body.get(), reply.body.data(), reply.body.size()) != 0) {
    evhttp_send_error(request, HTTP_SERVUNAVAIL, nullptr);
    return;
  }
  evhttp_send_reply(request, reply.status, nullptr, body.get());
}

void HttpServer::begin_stream(evhttp_request* request) {
  if (streams_.size() >= kStreamsMax) return send(request, refuse(503, "too many streams"));
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", "text/event-stream");
  evhttp_add_header(headers, "Cache-Control", "no-store");
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  bufferevent_set_timeouts(
      evhttp_connection_get_bufferevent(evhttp_request_get_connection(request)), nullptr, nullptr);
  evhttp_send_reply_start(request, HTTP_OK, nullptr);
  streams_.push_back(request);
  const UniqueHandle<BufferTraits> first(evbuffer_new());
  if (!first) return;
  evbuffer_add_printf(first.get(), ": unstarve\n\n");
  evbuffer_add(first.get(), last_news_.data(), last_news_.size());
  evhttp_send_reply_chunk(request, first.get());
}

void HttpServer::tell_streams(const std::string& news) {
  std::vector<evhttp_request*> open;
  for (evhttp_request* const request : streams_) {
    evhttp_connection* const connection = evhttp_request_get_connection(request);
    if (connection == nullptr) {  // the browser has left; this frees the request
      evhttp_send_reply_end(request);
      continue;
    }
    const evbuffer* const unread =
        bufferevent_get_output(evhttp_connection_get_bufferevent(connection));
    if (evbuffer_get_length(unread) > kUnreadBytesMax) {
      evhttp_connection_free(connection);  // and the request
      continue;
    }
    const UniqueHandle<BufferTraits> chunk(evbuffer_new());
    if (chunk && evbuffer_add(chunk.get(), news.data(), news.size()) == 0) {
      evhttp_send_reply_chunk(request, chunk.get());
    }
    open.push_back(request);
  }
  streams_ = std::move(open);
}

Status HttpServer::run(const std::function<bool()>& is_stopped,
                       const std::function<std::string()>& news) {
  event_base* const base = loop_->base.get();
  constexpr double kQuarterS = 0.25;
  const Ticker stopping(base, kQuarterS, [base, &is_stopped] {
    if (is_stopped()) event_base_loopbreak(base);
  });
  const Ticker telling(base, 1, [this, &news] {
    if (streams_.empty()) {
      last_news_.clear();
      return;
    }
    const std::string said = news();
    ++quiet_s_;
    if (!said.empty()) {
      last_news_ = event_of(said);
      tell_streams(last_news_);
      quiet_s_ = 0;
    } else if (quiet_s_ >= kSignOfLifeS) {
      tell_streams(": \n\n");
      quiet_s_ = 0;
    }
  });
  const Watch answered(base, answering_->ready_fd(), [this] { send_answers(); });
  if (event_base_dispatch(base) < 0) return fail(ErrorCode::kIo, "the server's loop failed");
  return {};
}

}  // namespace unstarve::serve
