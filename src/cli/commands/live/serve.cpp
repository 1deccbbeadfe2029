#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/console/stop_signals.h"
#include "cli/console/terminal.h"
#include "cli/options/cost_options.h"
#include "serve/dashboard.h"

namespace unstarve::cli {

namespace {

constexpr double kPortMax = 65'535;

struct ServeOptions {
  serve::DashboardOptions dashboard;
  CostOptions costs;
};

Status serve_runs(ServeOptions& options) {
  const auto rates = rates_of(options.costs);
  if (!rates) return forward_error(rates);
  options.dashboard.rates = *rates;
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  SteadyClock clock;
  const auto dashboard = serve::Dashboard::open(options.dashboard, clock);
  if (!dashboard) return forward_error(dashboard);
  say(fmt::format("the runs of {}, until Ctrl+C:", options.dashboard.folder));
  write_text(Stream::kOut, (*dashboard)->address() + "\n");
  return (*dashboard)->run([&stop] { return stop->came(); });
}

}  // namespace

void add_serve_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<ServeOptions>();
  options->dashboard.folder = "runs";
  Command command = line.add_command(
      "serve",
      "show the runs of a folder in a browser, those that go on too, and their series to "
      "Prometheus (/metrics)\n"
      "example: unstarve serve runs");
  command.option("folder", options->dashboard.folder, "of runs").shows_default();
  command
      .option("--host", options->dashboard.host,
              "address to listen at; any but this machine's own asks for a token. HTTP is not "
              "encrypted: rather reach it by `ssh -L 8321:127.0.0.1:8321 HOST`")
      .shows_default();
  command.option("--port", options->dashboard.port, "0: one that is free")
      .between(0, kPortMax)
      .shows_default();
  command.option("--token", options->dashboard.token,
                 "ask for this one (without: made by chance where one is needed)");
  add_cost_options(command, options->costs);
  command.when_named([options, &context] {
    if (const Status done = serve_runs(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
