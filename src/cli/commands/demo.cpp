#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/demo_job.h"
#include "cli/files.h"
#include "cli/observed_job.h"
#include "cli/remedies.h"
#include "cli/terminal.h"
#include "cli/trial.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

// Enough that no trial comes to the end of an epoch, where workers would start again.
constexpr int kLinks = 60'000;

struct Options {
  std::string out;
  std::string data;
  std::string device = "auto";
  std::string json;
  DemoLength length;
};

void say(const std::string& text) { write_text(Stream::kErr, text + "\n"); }

std::string shown(const predict::Speedup& speedup) {
  return fmt::format("{:.2f}x [{:.2f}..{:.2f}]", speedup.speedup, speedup.low, speedup.high);
}

void say_prediction(const Analysis& before, const std::string& remedy) {
  const Reading<predict::Speedup> predicted = prediction_of(before.diagnosis, remedy);
  say("  predicted         " + remedy + ": " +
      (predicted ? shown(*predicted)
                 : "no prediction, " + std::string(to_string(predicted.why_absent()))));
}

/// The three runs of the demo and what was made of them.
class Demo {
 public:
  Demo(Options options, const CommandContext& context)
      : options_(std::move(options)), parts_(find_installation(context.executable)) {}

  Status run() {
    if (Status ready = prepare(); !ready) return ready;
    auto before = measure("before", "as people first write it: DataLoader, PIL, num_workers=0", {});
    if (!before) return forward_error(before);
    const auto calibration = calibrate(data_folder_, NativeOutput::kUint8);
    if (!calibration) return forward_error(calibration);
    diagnose::attach_predictions(before->diagnosis, predict_remedies(*before, *calibration));
    say("  verdict           " + before->diagnosis.verdict);
    say_prediction(*before, kMoreWorkers);
    say_prediction(*before, kUnstarveLoader);
    if (Status tried = try_remedies(*before); !tried) return tried;
    return present(*before);
  }

 private:
  Status prepare() {
    if (parts_.example_dir.empty()) {
      return fail(ErrorCode::kNotFound,
                  "the demo needs examples/train.py, and it is not beside this program: run it "
                  "from a checkout");
    }
    const std::string out = options_.out.empty() ? "runs/" + make_run_id({"demo"}) : options_.out;
    std::error_code failed;
    fs::create_directories(out, failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot make the folder {}", out));
    out_ = fs::absolute(out).string();
    device_ = options_.device == "auto" ? choose_demo_device(parts_) : options_.device;
    emulated_ = device_.rfind("emulated", 0) == 0;
    say("unstarve demo: why does a GPU starve on real images, and what helps?");
    say("  job               examples/train.py, ResNet-50, batches of 128 JPEGs");
    say("  device            " + device_ +
        (emulated_ ? "  (takes the time of a real one and computes nothing)" : ""));
    data_folder_ = options_.data;
    if (!data_folder_.empty()) return {};
    const auto data = make_demo_data(parts_.photo_dir, out_ + "/data", kLinks);
    if (!data) return forward_error(data);
    data_folder_ = data->folder;
    say(fmt::format("  data              {} photographs, linked {} times, in the page cache",
                    data->photographs, data->links));
    return {};
  }

  Result<Analysis> measure(const std::string& label, const std::string& what,
                           const std::vector<std::string>& arguments,
                           std::vector<std::pair<std::string, std::string>> environment = {}) {
    say(fmt::format("[{}/3] {}: {}", ++runs_, label, what));
    Trial trial;
    trial.label = label;
    trial.command = demo_command(parts_, data_folder_, device_, options_.length);
    trial.command.insert(trial.command.end(), arguments.begin(), arguments.end());
    trial.environment = std::move(environment);
    trial.environment.emplace_back("PYTHONPATH", parts_.package_dir);
    trial.run_dir = out_ + "/" + label;
    trial.emulated = emulated_;
    return run_trial(parts_, trial);
  }

  Status try_remedies(const Analysis& before) {
    const auto plan = plan_workers(before);
    if (plan) {
      const std::string how = fmt::format("DataLoader(..., num_workers={}, prefetch_factor={})",
                                          plan->workers, plan->prefetch_factor);
      const auto after = measure(kMoreWorkers, how, {}, {{"UNSTARVE_FIX", fix_variable(*plan)}});
      if (!after) return forward_error(after);
      keep(verify(before, *after, kMoreWorkers, how), *after);
    }
    const std::string how = "unstarve.ImageFolderLoader(...) in the loader's line";
    const auto after = measure(kUnstarveLoader, how, {"--loader", "unstarve"});
    if (!after) return forward_error(after);
    keep(verify(before, *after, kUnstarveLoader, how), *after);
    return {};
  }

  void keep(const report::Verification& verification, const Analysis& after) {
    tried_.verification.push_back(verification);
    tried_.curves.push_back(after.utilization);
    say("  measured          " + shown(verification.measured) +
        (!verification.predicted ? ""
         : verification.held     ? ", as predicted"
                                 : ", outside the prediction"));
  }

  Status present(const Analysis& before) {
    const report::Report whole = to_report(before, tried_);
    const std::string html = out_ + "/report.html";
    if (Status written = write_file(html, report::render_html(whole)); !written) return written;
    if (Status stored = store_results(out_ + "/before", before.diagnosis, tried_.verification);
        !stored) {
      return stored;
    }
    if (options_.json != "-") {
      write_text(Stream::kOut,
                 "\n" + report::render_text(whole, text_options(Stream::kOut)) + "\n");
    }
    for (const std::string& remark : before.remarks) say("note: " + remark);
    say("The page: " + html);
    if (options_.json.empty()) return {};
    return write_file(options_.json, report::to_json(before.diagnosis, tried_.verification));
  }

  Options options_;
  Installation parts_;
  std::string out_;
  std::string data_folder_;
  std::string device_;
  bool emulated_ = false;
  int runs_ = 0;
  Tried tried_;
};

}  // namespace

void add_demo_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand(
      "demo",
      "the whole loop on real images in about a minute: observe, diagnose, predict, fix, "
      "verify");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command
      ->add_option("--device", options->device,
                   "auto, cuda, emulated-a100 or emulated-h100 (auto: the GPU if there is one)")
      ->check(CLI::IsMember({"auto", "cuda", "emulated-a100", "emulated-h100"}))
      ->capture_default_str();
  command->add_option("--seconds", options->length.seconds, "length of each of the three runs")
      ->check(CLI::Range(3.0, 3600.0))
      ->capture_default_str();
  command
      ->add_option("--steps", options->length.steps,
                   "end each run after so many steps (0: no limit)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--data", options->data,
                      "your own folder of JPEGs, one folder per class (default: the project's)");
  command->add_option("--out", options->out, "folder for the runs (default: runs/TIME_demo)");
  command
      ->add_option("--json", options->json,
                   "write the starving run's diagnosis with the verification (- or nothing: "
                   "stdout, which then holds nothing else)")
      ->expected(0, 1)
      ->default_str("-");
  command->callback([&context, command, options] {
    if (command->count("--json") > 0 && options->json.empty()) options->json = "-";
    Demo demo(*options, context);
    if (const Status done = demo.run(); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
