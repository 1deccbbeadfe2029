#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/number_words.h"
#include "cli/commands/commands.h"
#include "cli/commands/demo_text.h"
#include "cli/console/files.h"
#include "cli/console/live_trials.h"
#include "cli/console/terminal.h"
#include "cli/options/cost_options.h"
#include "demo/demo.h"
#include "launch/run_folder.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/run_page.h"
#include "report/text/text.h"
#include "report/words/words.h"

namespace unstarve::cli {

namespace {

struct DemoOptions {
  demo::DemoOptions demo;
  std::string json;
};

void say_line(const std::string& text) { write_text(Stream::kErr, text + "\n"); }

/// Says on stderr what a demo does.
class ShownDemo final : public LiveTrials<demo::DemoListener> {
 public:
  ShownDemo()
      : copying_(clock_, progress_options(),
                 [](std::string_view text) { write_text(Stream::kErr, text); }) {}

  void prepares(const launch::Emulation* emulation) override {
    say_line("unstarve demo: why does a GPU starve on real images, and what helps?");
    say_line("  job               examples/train.py, ResNet-50, batches of 128 JPEGs");
    if (emulation == nullptr) return say_line("  device            cuda");
    say_line(
        fmt::format("  device            {}, emulated: work takes its time, nothing is computed",
                    emulation->devices()));
    say_line(fmt::format("{:20}durations: {}", "", emulation->durations()));
  }
  void makes_images(std::uint64_t done, std::uint64_t total) override {
    copying_.update(fmt::format("  data              making image {} of {}", done, total));
  }
  void has_data(const demo::DemoData& made) override {
    copying_.clear();
    say_line(fmt::format("  data              {} different images, {}, made of photographs in {}",
                         made.images, bytes_text(static_cast<double>(made.bytes)),
                         seconds_text(made.seconds)));
  }
  void begins(const std::string& label, const std::string& description) override {
    say_line(fmt::format("[{}/{}] {}: {}", ++begun_, demo::kDemoRuns, label, description));
  }
  void calibrates() override {
    say_line(
        "  calibration       some of the images with unstarve's loader, for some 5 s: from their");
    say_line("                    folder, from a cache, from shards");
  }
  void predicted(const examine::Examination& before) override {
    say_line("  verdict           " + before.advice.verdict);
    for (const char* remedy : demo::kDemoRemedies) {
      say_line(fmt::format("  predicted         {}: {}", remedy, prediction_text(before, remedy)));
    }
  }
  void copies(const std::string& task, std::uint64_t done, std::uint64_t total) override {
    copying_.update(fmt::format("  {:<16}  {} of {} images", task, done, total));
  }
  void copied() override { copying_.clear(); }
  void filled(const examine::FilledCache& cache, const advise::Calibration& measured) override {
    say_line(filled_text(cache, measured));
  }
  void packed(const feed::PackSummary& packed) override { say_line(packed_text(packed)); }
  void measured(const trial::Verification& tried) override {
    say_line("  measured          " + measured_text(tried));
  }
  void not_tried(const std::string& /*remedy*/, const std::string& why) override {
    say_line("  not tried         " + why);
  }

 private:
  SteadyClock clock_;
  report::ProgressLine copying_;
  int begun_ = 0;
};

std::string costs(const demo::DemoResult& result) {
  std::string text = what_feeding_costs(result.job.verification);
  if (result.cache) text += what_filling_costs(*result.cache, result.calibration);
  return text.empty() ? text : text + "\n";
}

Status present(const DemoOptions& options, const demo::DemoResult& result) {
  const auto rates = rates_of({});
  if (!rates) return forward_error(rates);
  report::Report whole = report::make_report(result.job);
  report::add_cost(result.job.before, *rates, whole);
  const std::string html = options.demo.folder + "/report.html";
  if (Status written = write_file(html, report::render_html(whole)); !written) return written;
  if (Status stored = trial::store_results(result.job); !stored) return stored;
  if (options.json != "-") {
    write_text(Stream::kOut, "\n" + report::render_text(whole, text_options(Stream::kOut)) + "\n" +
                                 costs(result));
  }
  for (const std::string& remark : result.job.before.remarks) say_line("note: " + remark);
  say_line("The page: " + html);
  if (options.json.empty()) return {};
  return write_file(options.json, report::to_json(whole, true));
}

Status run_and_present(DemoOptions options, const std::string& executable) {
  if (Status writable = check_writable(options.json); !writable) return writable;
  if (options.demo.folder.empty()) {
    auto made = launch::make_run_folder("runs", {"demo"});
    if (!made) return forward_error(made);
    options.demo.folder = *std::move(made);
  }
  options.demo.folder = std::filesystem::absolute(options.demo.folder).string();
  ShownDemo shown;
  const auto result = demo::run_demo(launch::find_installation(executable), options.demo, shown);
  if (!result) return forward_error(result);
  return present(options, *result);
}

void run(const DemoOptions& options, CommandContext& context) {
  const Status done = run_and_present(options, context.executable);
  if (!done) report_error(context, done.error());
}

}  // namespace

void add_demo_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "demo",
      "the whole loop on real images in about a minute and a half: observe, diagnose, predict, "
      "fix, verify");
  auto options = std::make_shared<DemoOptions>();  // lives as long as the parser's callback
  command.option("--emulate", options->demo.emulate,
                 "emulate this GPU: a profile's name or file (default: a100, where there is "
                 "no GPU)");
  Option seconds =
      command.option("--seconds", options->demo.length.seconds,
                     "length of each run after its first step (unless this is given, a run with a "
                     "fix ends when its step is known to half a percent)");
  seconds.between(3, 3600).shows_default();
  command
      .option("--steps", options->demo.length.steps,
              "end each run after so many steps (0: no limit)")
      .between(0, 1e9)
      .shows_default();
  command.option("--data", options->demo.data,
                 "your own folder of JPEGs, one folder per class (default: the project's)");
  command.option("--out", options->demo.folder, "folder for the runs (default: runs/TIME_demo)");
  Option json =
      command.option("--json", options->json,
                     "write the starving run's diagnosis with the verification (- or nothing: "
                     "stdout, which then holds nothing else)");
  json.may_lack_value().shows_default("-");
  command.when_named([&context, seconds, json, options] {
    options->demo.length.until_known = !seconds.was_given();
    if (json.was_given() && options->json.empty()) options->json = "-";
    run(*options, context);
  });
}

}  // namespace unstarve::cli
