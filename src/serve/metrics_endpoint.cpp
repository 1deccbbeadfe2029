#include "serve/metrics_endpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

#include "serve/http/http_server.h"
#include "serve/state/scraped_runs.h"

namespace unstarve::serve {

namespace {

constexpr int kPortMax = 65'535;

Reply answer(const Request& request, ScrapedRuns& scraped, const std::string& run_dir) {
  if (request.path != "/metrics") return refuse(404, "the series are at /metrics");
  Reply reply;
  reply.type = kPrometheusText;
  reply.body = scraped.scrape({run_dir});
  return reply;
}

}  // namespace

struct MetricsEndpoint::Impl {
  EndpointAddress address;
  std::string run_dir;
  ScrapedRuns scraped;
  std::unique_ptr<HttpServer> server;
  std::jthread thread;  // the last member: it uses the others
};

Result<EndpointAddress> parse_endpoint(const std::string& text) {
  EndpointAddress address;
  const std::size_t colon = text.rfind(':');
  const std::string_view port =
      std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (failed != std::errc() || end != port.data() + port.size() || address.port < 0 ||
      address.port > kPortMax) {
    return fail(ErrorCode::kInvalidArgument, "{} is no port, nor HOST:PORT", text);
  }
  if (colon != std::string::npos && colon > 0) address.host = text.substr(0, colon);
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  return address;
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsEndpoint::~MetricsEndpoint() = default;

Result<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::open(const EndpointAddress& address,
                                                               const std::string& run_dir) {
  auto impl = std::make_unique<Impl>();
  impl->address = address;
  impl->run_dir = run_dir;
  Impl* const known = impl.get();
  auto server = HttpServer::open(
      {{address.host, ""}, address.port, ""},
      [known](const Request& request) { return answer(request, known->scraped, known->run_dir); });
  if (!server) return forward_error(server);
  impl->server = *std::move(server);
  // Signals are the first thread's.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  impl->thread = std::jthread([known](const std::stop_token& stop) {
    try {
      (void)known->server->run([&stop] { return stop.stop_requested(); },
                               [] { return std::string(); });
    } catch (const std::exception&) {  // no scrape is worth the job
    }
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(impl)));
}

std::string MetricsEndpoint::address() const {
  const std::string& host = impl_->address.host;
  const bool has_colons = host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/metrics", has_colons ? "[" + host + "]" : host,
                     impl_->server->port());
}

}  // namespace unstarve::serve
