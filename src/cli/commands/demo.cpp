#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/demo_job.h"
#include "cli/files.h"
#include "cli/image_sample.h"
#include "cli/observed_job.h"
#include "cli/remedies.h"
#include "cli/shard_text.h"
#include "cli/terminal.h"
#include "cli/trial.h"
#include "feed/pack/pack_job.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

// Enough that no trial comes to the end of an epoch, where workers would start again.
constexpr int kLinks = 60'000;
// What is packed: epochs of 32 batches, packed in a few seconds.
constexpr SampleBounds kPackedImages = {4'096, std::uint64_t{512} << 20};
constexpr int kRuns = 4;
// MLPerf Storage's bound for an accelerator that is fed.
constexpr double kFedAu = 0.9;

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

/// What the remedies that feed the GPU differ in: the CPU that they take. Empty for none.
std::string what_feeding_costs(const std::vector<report::Verification>& tried) {
  std::string fed;
  for (const report::Verification& trial : tried) {
    if (!trial.after.au || *trial.after.au < kFedAu || !trial.after.cpu_cores) continue;
    fed += fmt::format("{}{} with {:.2f} CPU cores", fed.empty() ? "" : ", ", trial.remedy,
                       *trial.after.cpu_cores);
  }
  if (fed.empty()) return fed;
  return "  The GPU is fed by: " + fed + ".\n\n";
}

/// The runs of the demo and what was made of them.
class Demo {
 public:
  Demo(Options options, const CommandContext& context)
      : options_(std::move(options)), parts_(find_installation(context.executable)) {}

  Status run() {
    if (Status ready = prepare(); !ready) return ready;
    auto before = measure("before", "as people first write it: DataLoader, PIL, num_workers=0",
                          data_folder_, {});
    if (!before) return forward_error(before);
    const Calibration calibration = calibrate(data_folder_, NativeOutput::kUint8);
    for (const std::string& remark : calibration.remarks) before->remarks.push_back(remark);
    diagnose::attach_predictions(before->diagnosis, predict_remedies(*before, calibration));
    say("  verdict           " + before->diagnosis.verdict);
    for (const char* remedy : {kMoreWorkers, kUnstarveLoader, kUnstarveShards}) {
      say_prediction(*before, remedy);
    }
    if (Status tried = try_more_workers(*before); !tried) return tried;
    if (Status tried = try_folder(*before); !tried) return tried;
    if (Status tried = try_shards(*before); !tried) return tried;
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
                           const std::string& data, const std::vector<std::string>& arguments,
                           std::vector<std::pair<std::string, std::string>> environment = {}) {
    say(fmt::format("[{}/{}] {}: {}", ++runs_, kRuns, label, what));
    Trial trial;
    trial.label = label;
    trial.command = demo_command(parts_, data, device_, options_.length);
    trial.command.insert(trial.command.end(), arguments.begin(), arguments.end());
    trial.environment = std::move(environment);
    trial.environment.emplace_back("PYTHONPATH", parts_.package_dir);
    trial.run_dir = out_ + "/" + label;
    trial.emulated = emulated_;
    return run_trial(parts_, trial);
  }

  Status try_more_workers(const Analysis& before) {
    const auto plan = plan_workers(before);
    if (!plan) {
      say(fmt::format("[{}/{}] more_workers is not tried: the diagnosis does not advise it",
                      ++runs_, kRuns));
      return {};
    }
    const std::string how = fmt::format("DataLoader(..., num_workers={}, prefetch_factor={})",
                                        plan->workers, plan->prefetch_factor);
    const auto after =
        measure(kMoreWorkers, how, data_folder_, {}, {{"UNSTARVE_FIX", fix_variable(*plan)}});
    if (!after) return forward_error(after);
    keep(verify(before, *after, kMoreWorkers, how), *after);
    return {};
  }

  Status try_folder(const Analysis& before) {
    return try_native(before, kUnstarveLoader, "unstarve.ImageFolderLoader(DATA) in its line",
                      data_folder_);
  }

  Status try_native(const Analysis& before, const char* remedy, const std::string& how,
                    const std::string& data) {
    const auto after = measure(remedy, how, data, {"--loader", "unstarve"});
    if (!after) return forward_error(after);
    keep(verify(before, *after, remedy, how), *after);
    return {};
  }

  /// Packs some of the images as `unstarve pack` does, and takes the shards away again at the end.
  Status try_shards(const Analysis& before) {
    const std::string images = out_ + "/some_images";
    feed::PackOptions pack;
    pack.source = images;
    pack.target = out_ + "/shards";
    const auto sample = link_some_images(data_folder_, images, kPackedImages);
    if (!sample) return forward_error(sample);
    auto job = feed::PackJob::open(pack);
    if (!job) return forward_error(job);
    const auto packed = job->run([](const feed::PackProgress&) {});
    if (!packed) return forward_error(packed);
    say(fmt::format("  unstarve pack     {} of the images once: {} -> {} in {}", packed->samples,
                    bytes_text(static_cast<double>(packed->source_bytes)),
                    bytes_text(static_cast<double>(packed->shard_bytes)),
                    duration_text(packed->seconds)));
    const Status tried = try_native(
        before, kUnstarveShards,
        "unstarve pack DATA SHARDS, then unstarve.ImageFolderLoader(SHARDS)", pack.target);
    std::error_code ignored;  // whatever stays lies in the demo's own folder
    fs::remove_all(pack.target, ignored);
    return tried;
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
      write_text(Stream::kOut, "\n" + report::render_text(whole, text_options(Stream::kOut)) +
                                   "\n" + what_feeding_costs(tried_.verification));
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
      "the whole loop on real images in about a minute and a half: observe, diagnose, predict, "
      "fix, verify");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command
      ->add_option("--device", options->device,
                   "auto, cuda, emulated-a100 or emulated-h100 (auto: the GPU if there is one)")
      ->check(CLI::IsMember({"auto", "cuda", "emulated-a100", "emulated-h100"}))
      ->capture_default_str();
  command->add_option("--seconds", options->length.seconds, "length of each run")
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
