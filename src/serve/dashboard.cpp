#include "serve/dashboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "report/live/live_screen.h"
#include "runs/collection.h"
#include "serve/http/access.h"
#include "serve/http/http_server.h"
#include "serve/pages/routes.h"
#include "serve/state/run_shelf.h"
#include "sink/recent/watched_jobs.h"

namespace unstarve::serve {

namespace {

/// Where the news are: server-sent events of the jobs that go on.
constexpr const char* kLive = "/api/live";

}  // namespace

struct Dashboard::Parts {
  Parts(DashboardOptions given, Clock& clock)
      : options(std::move(given)),
        shelf(options.folder, options.rates),
        routes(shelf),
        jobs(options.folder, clock) {}

  /// What the streams are told. Jobs that have ended are told of once more, so that a page sees it.
  std::string news() {
    constexpr int kSecondsBetweenFinds = 5;
    if (until_found-- > 0) {
      jobs.read();
    } else {
      until_found = kSecondsBetweenFinds - 1;
      if (!jobs.update()) return {};
    }
    std::string said = report::live_json(jobs.look(0, 0));
    jobs.forget_ended();
    const bool is_new = said != last_said;
    last_said = said;
    return is_new ? said : std::string();
  }

  DashboardOptions options;
  RunShelf shelf;
  Routes routes;
  sink::WatchedJobs jobs;
  std::unique_ptr<HttpServer> server;
  std::string last_said;
  int until_found = 0;  // seconds until new runs are looked for
};

namespace {

/// By which others on the network may know this machine.
std::string own_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

Dashboard::Dashboard(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Dashboard::~Dashboard() = default;

Result<std::unique_ptr<Dashboard>> Dashboard::open(DashboardOptions options, Clock& clock) {
  if (const auto collection = runs::read_collection(options.folder); !collection) {
    return forward_error(collection);
  }
  if (options.token.empty() && !is_loopback(options.host)) {
    auto token = make_token();
    if (!token) return forward_error(token);
    options.token = *std::move(token);
  }
  auto parts = std::make_unique<Parts>(std::move(options), clock);
  Parts* const known = parts.get();
  auto server =
      HttpServer::open({{parts->options.host, parts->options.token}, parts->options.port, kLive},
                       [known](const Request& request) { return known->routes.answer(request); });
  if (!server) return forward_error(server);
  parts->server = *std::move(server);
  return std::unique_ptr<Dashboard>(new Dashboard(std::move(parts)));
}

std::string Dashboard::address() const {
  const DashboardOptions& options = parts_->options;
  std::string host = options.host;
  if (host == "0.0.0.0" || host == "::") host = own_name();
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("http://{}:{}/{}{}", host, parts_->server->port(),
                     options.token.empty() ? "" : "?token=", options.token);
}

Status Dashboard::run(const std::function<bool()>& is_stopped) {
  return parts_->server->run(is_stopped, [this] { return parts_->news(); });
}

}  // namespace unstarve::serve
