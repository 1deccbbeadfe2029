#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/commands/demo_text.h"
#include "cli/commands/numbers.h"
#include "cli/demo_job.h"
#include "cli/files.h"
#include "cli/image_sample.h"
#include "cli/observed_job.h"
#include "cli/recorded/run_folder.h"
#include "cli/remedies.h"
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
// What is cached and packed: epochs of 32 batches, copied in a few seconds.
constexpr SampleBounds kCopiedImages = {4'096, std::uint64_t{512} << 20};
constexpr int kRuns = 5;
// Folders that the demo makes in its own.
constexpr const char* kImagesName = "some_images";
constexpr const char* kCacheName = "cache";
constexpr const char* kShardsName = "shards";

struct Options {
  std::string out;
  std::string data;
  std::string device = "auto";
  std::string json;
  DemoLength length;
};

void say(const std::string& text) { write_text(Stream::kErr, text + "\n"); }

void say_prediction(const Analysis& before, const std::string& remedy) {
  say("  predicted         " + remedy + ": " + prediction_text(before, remedy));
}

/// One line on stderr about what takes a while, for as long as this lives.
class Progress {
 public:
  explicit Progress(std::string what)
      : what_(std::move(what)), line_(clock_, progress_options(), [](std::string_view text) {
          write_text(Stream::kErr, text);
        }) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { line_.clear(); }
  void update(std::uint64_t done, std::uint64_t total) {
    line_.update(fmt::format("  {:<16}  {} of {} images", what_, done, total));
  }

 private:
  std::string what_;
  SteadyClock clock_;
  report::ProgressLine line_;
};

/// What unstarve's loader is given.
struct NativeData {
  std::string folder;
  std::string cache = {};  // a filled one; empty: none
};

/// The runs of the demo and what was made of them.
class Demo {
 public:
  Demo(Options options, const CommandContext& context)
      : options_(std::move(options)), parts_(find_installation(context.executable)) {}

  Status run() {
    if (Status ready = prepare(); !ready) return ready;
    begin("before", "as people first write it: DataLoader, PIL, num_workers=0");
    auto before = measure("before", data_folder_, {});
    if (!before) return forward_error(before);
    say("  calibration       some of the images with unstarve's loader, for some 5 s: from their");
    say("                    folder, from a cache, from shards");
    calibration_ = calibrate(data_folder_, NativeOutput::kUint8);
    for (const std::string& remark : calibration_.remarks) before->remarks.push_back(remark);
    diagnose::attach_predictions(before->diagnosis, predict_remedies(*before, calibration_));
    say("  verdict           " + before->diagnosis.verdict);
    for (const char* remedy : {kMoreWorkers, kUnstarveLoader, kUnstarveCache, kUnstarveShards}) {
      say_prediction(*before, remedy);
    }
    if (Status tried = try_more_workers(*before); !tried) return tried;
    if (Status tried = try_folder(*before); !tried) return tried;
    if (Status tried = try_cache(*before); !tried) return tried;
    if (Status tried = try_shards(*before); !tried) return tried;
    for (const std::string& note : not_tried_) before->remarks.push_back(note);
    return present(*before);
  }

  /// The signal that ended it early.
  std::optional<int> told() const { return told_; }

 private:
  Status prepare() {
    if (parts_.example_dir.empty()) {
      return fail(ErrorCode::kNotFound,
                  "the demo needs its train.py, and it is not beside this program: run it from a "
                  "checkout, or install unstarve again");
    }
    if (Status writable = check_writable(options_.json); !writable) return writable;
    if (Status able = check_demo_python(parts_); !able) return able;
    std::error_code failed;
    if (options_.out.empty()) {
      const auto made = make_run_folder("runs", {"demo"});
      if (!made) return forward_error(made);
      options_.out = *made;
    }
    fs::create_directories(options_.out, failed);
    if (failed) {
      return fail_errno(failed.value(), fmt::format("cannot make the folder {}", options_.out));
    }
    out_ = fs::absolute(options_.out).string();
    auto package = lone_package_dir(parts_, out_ + "/package");
    if (!package) return forward_error(package);
    parts_.package_dir = std::move(*package);
    some_images_ = out_ + "/" + kImagesName;
    // What is made there is taken away again, so nothing may be there before.
    for (const char* name : {kImagesName, kCacheName, kShardsName}) {
      if (!fs::exists(fs::path(out_) / name, failed)) continue;
      return fail(ErrorCode::kInvalidArgument, "{} holds '{}' already; give --out a new folder",
                  out_, name);
    }
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

  /// Every run begins with it, also one that then cannot be made.
  void begin(const std::string& label, const std::string& what) {
    say(fmt::format("[{}/{}] {}: {}", ++runs_, kRuns, label, what));
  }

  Status not_tried(const std::string& remedy, const std::string& why) {
    say("  not tried         " + why);
    not_tried_.push_back(fmt::format("{} was not tried: {}", remedy, why));
    return {};
  }

  Result<Analysis> measure(const std::string& label, const std::string& data,
                           const std::vector<std::string>& arguments,
                           std::vector<std::pair<std::string, std::string>> environment = {}) {
    Trial trial;
    trial.label = label;
    trial.command = demo_command(parts_, data, device_, options_.length);
    trial.command.insert(trial.command.end(), arguments.begin(), arguments.end());
    trial.environment = std::move(environment);
    trial.environment.emplace_back("PYTHONPATH", parts_.package_dir);
    trial.run_dir = out_ + "/" + label;
    trial.emulated = emulated_;
    return run_trial(parts_, trial, told_);
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
    begin(kMoreWorkers, how);
    const auto after =
        measure(kMoreWorkers, data_folder_, {}, {{"UNSTARVE_FIX", fix_variable(*plan)}});
    if (!after) return forward_error(after);
    keep(verify(before, *after, kMoreWorkers, how), *after);
    return {};
  }

  Status try_folder(const Analysis& before) {
    const std::string how = "unstarve.ImageFolderLoader(DATA) in its line";
    begin(kUnstarveLoader, how);
    return try_native(before, kUnstarveLoader, how, {data_folder_});
  }

  Status try_native(const Analysis& before, const char* remedy, const std::string& how,
                    const NativeData& data) {
    std::vector<std::string> arguments = {"--loader", "unstarve"};
    if (!data.cache.empty()) arguments.insert(arguments.end(), {"--cache", data.cache});
    const auto after = measure(remedy, data.folder, arguments);
    if (!after) return forward_error(after);
    keep(verify(before, *after, remedy, how), *after);
    return {};
  }

  /// The epochs that fill the cache are not measured; the cache is taken away again at the end.
  Status try_cache(const Analysis& before) {
    const std::string how = "ImageFolderLoader(DATA, cache_dir=DIR), from the second epoch on";
    begin(kUnstarveCache, how);
    const ScratchFolder cache = ScratchFolder::at(out_ + "/" + kCacheName);
    const auto filled = fill(cache.path());
    if (!filled) return not_tried(kUnstarveCache, filled.error().message);
    say(filled_text(*filled, calibration_));
    filled_ = *filled;
    return try_native(before, kUnstarveCache,
                      how + "; filling it took " + filling_cost(*filled, calibration_),
                      {some_images_, cache.path()});
  }

  /// Links to what is copied, made when they are first asked for.
  const Result<ImageSample>& some_images() {
    if (!linked_) linked_ = link_some_images(data_folder_, some_images_, kCopiedImages);
    return *linked_;
  }

  Result<FilledCache> fill(const std::string& cache) {
    if (const auto& some = some_images(); !some) return forward_error(some);
    Progress progress("first epoch");
    return fill_cache(some_images_, cache, [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    });
  }

  /// Packs some of the images as `unstarve pack` does, and takes the shards away again at the end.
  Status try_shards(const Analysis& before) {
    const std::string how = "unstarve pack DATA SHARDS, then ImageFolderLoader(SHARDS)";
    begin(kUnstarveShards, how);
    const ScratchFolder shards = ScratchFolder::at(out_ + "/" + kShardsName);
    const auto packed = pack(shards.path());
    if (!packed) return not_tried(kUnstarveShards, packed.error().message);
    say(packed_text(*packed));
    return try_native(before, kUnstarveShards, how, {shards.path()});
  }

  Result<feed::PackSummary> pack(const std::string& shards) {
    if (const auto& some = some_images(); !some) return forward_error(some);
    feed::PackOptions options;
    options.source = some_images_;
    options.target = shards;
    auto job = feed::PackJob::open(options);
    if (!job) return forward_error(job);
    Progress progress("unstarve pack");
    return job->run([&](const feed::PackProgress& now) { progress.update(now.done, now.total); });
  }

  void keep(const report::Verification& verification, const Analysis& after) {
    tried_.verification.push_back(verification);
    tried_.curves.push_back(after.utilization);
    say("  measured          " + measured_text(verification));
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
                 "\n" + report::render_text(whole, text_options(Stream::kOut)) + "\n" + costs());
    }
    for (const std::string& remark : before.remarks) say("note: " + remark);
    say("The page: " + html);
    if (options_.json.empty()) return {};
    return write_file(options_.json, report::to_json(before.diagnosis, tried_.verification));
  }

  std::string costs() const {
    std::string text = what_feeding_costs(tried_.verification);
    if (filled_) text += what_filling_costs(*filled_, calibration_);
    return text.empty() ? text : text + "\n";
  }

  Options options_;
  Installation parts_;
  Calibration calibration_;
  std::optional<FilledCache> filled_;
  std::vector<std::string> not_tried_;
  std::string out_;
  std::string data_folder_;
  std::string some_images_;
  std::optional<Result<ImageSample>> linked_;
  std::string device_;
  bool emulated_ = false;
  int runs_ = 0;
  std::optional<int> told_;
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
      ->check(number_between(3, 3600))
      ->capture_default_str();
  command
      ->add_option("--steps", options->length.steps,
                   "end each run after so many steps (0: no limit)")
      ->check(number_between(0, 1e9))
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
    if (demo.told()) context.exit_code = kEndedBySignal + *demo.told();
  });
}

}  // namespace unstarve::cli
