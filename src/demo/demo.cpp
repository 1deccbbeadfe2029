#include "demo/demo.h"

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "advise/catalogue.h"
#include "examine/calibration/calibrate.h"
#include "examine/history/trial_dirs.h"
#include "launch/emulation/program_check.h"

namespace unstarve::demo {

namespace {

namespace fs = std::filesystem;

// What is cached and packed: epochs of 24 batches, copied in a few seconds.
constexpr examine::SampleBounds kCopiedImages = {3'072, std::uint64_t{512} << 20};
constexpr const char* kDefaultGpu = "a100";
// What the demo makes in its folder.
constexpr const char* kImagesName = "images";
constexpr const char* kDataName = "data";
constexpr const char* kFixedScriptName = "train_fixed.py";
constexpr const char* kSomeImagesName = "some_images";
constexpr const char* kCacheName = "cache";
constexpr const char* kShardsName = "shards";

/// One run of the job.
struct Attempt {
  std::string script;
  std::string data;
  std::vector<std::pair<std::string, std::string>> environment = {};
};

/// The runs of the demo and what was made of them.
class Demo {
 public:
  Demo(const launch::Installation& parts, const DemoOptions& options, DemoListener& listener)
      : parts_(parts), options_(options), listener_(listener) {}

  Result<DemoResult> run() {
    if (Status ready = prepare(); !ready) return forward_error(ready);
    listener_.begins(examine::kBefore, "as people first write it: DataLoader, PIL, num_workers=0");
    auto before = measure(examine::kBefore,
                          {plain_script_, data_folder_, {examine::worker_calibration_variable()}});
    if (!before) return forward_error(before);
    listener_.calibrates();
    DemoResult result{{*std::move(before), {}}, {}, {}};
    result.calibration = examine::calibrate_for(result.job.before, examine::NativeOutput::kFloat32);
    examine::predict(result.job.before, result.calibration);
    listener_.predicted(result.job.before);
    for (const auto attempt :
         {&Demo::try_more_workers, &Demo::try_folder, &Demo::try_cache, &Demo::try_shards}) {
      if (Status tried = std::invoke(attempt, this, result); !tried) return forward_error(tried);
    }
    return result;
  }

 private:
  Status prepare() {
    if (parts_.example_dir.empty()) {
      return fail(ErrorCode::kNotFound,
                  "the demo needs its train.py, and it is not beside this program: run it from a "
                  "checkout, or install unstarve again");
    }
    if (Status able = check_demo_python(parts_); !able) return able;
    if (Status made = make_folder(); !made) return made;
    if (Status chosen = choose_isolation(); !chosen) return chosen;
    if (Status chosen = choose_gpu(); !chosen) return chosen;
    listener_.prepares(emulation_ ? &*emulation_ : nullptr);
    if (Status written = write_fixed_script(parts_, fixed_script_); !written) return written;
    data_folder_ = options_.data;
    if (!data_folder_.empty()) return {};
    const auto data = make_demo_data(
        parts_.photo_dir, out_ + "/" + kImagesName, out_ + "/" + kDataName,
        [this](std::uint64_t done, std::uint64_t total) { listener_.makes_images(done, total); });
    if (!data) return forward_error(data);
    data_folder_ = data->folder;
    listener_.has_data(*data);
    return {};
  }

  /// The machine's own GPU where there is one and nobody named another.
  Status choose_gpu() {
    launch::EmulationOptions emulated;
    emulated.gpu = options_.emulate.empty() ? kDefaultGpu : options_.emulate;
    if (options_.emulate.empty() && has_cuda_device(parts_)) return {};
    const std::string why_not = launch::why_not_emulated({parts_.python});
    if (!why_not.empty()) return fail(ErrorCode::kNotFound, "{}", why_not);
    auto emulation = launch::Emulation::prepare(parts_, emulated);
    if (!emulation) return forward_error(emulation);
    emulation_.emplace(*std::move(emulation));
    return {};
  }

  /// What its script writes is known: it needs no protection where there is none.
  Status choose_isolation() {
    auto isolation = isolation::Isolation::choose({plain_script_}, out_, {});
    if (!isolation) isolation = isolation::Isolation::choose({}, out_, {.in_place = true});
    if (!isolation) return forward_error(isolation);
    isolation_.emplace(*std::move(isolation));
    return {};
  }

  Status make_folder() {
    std::error_code failed;
    fs::create_directories(options_.folder, failed);
    if (failed) {
      return fail_errno(failed.value(), fmt::format("cannot make the folder {}", options_.folder));
    }
    out_ = fs::absolute(options_.folder).string();
    auto package = launch::lone_package_dir(parts_, out_ + "/package");
    if (!package) return forward_error(package);
    package_dir_ = std::move(*package);
    plain_script_ = parts_.example_dir + "/train.py";
    fixed_script_ = out_ + "/" + kFixedScriptName;
    some_images_ = out_ + "/" + kSomeImagesName;
    // Nothing of somebody else's is written to or taken away again.
    for (const char* name :
         {kImagesName, kDataName, kFixedScriptName, kSomeImagesName, kCacheName, kShardsName}) {
      if (!fs::exists(fs::path(out_) / name, failed)) continue;
      return fail(ErrorCode::kInvalidArgument, "{} holds '{}' already; give --out a new folder",
                  out_, name);
    }
    return {};
  }

  Status not_tried(const std::string& remedy, const std::string& why, DemoResult& result) {
    listener_.not_tried(remedy, why);
    result.job.before.remarks.push_back(fmt::format("{} was not tried: {}", remedy, why));
    return {};
  }

  Result<examine::Examination> measure(const std::string& label, const Attempt& attempt) {
    trial::Trial trial;
    trial.label = label;
    trial.command = demo_command(parts_, attempt.script, attempt.data, options_.length);
    trial.environment = attempt.environment;
    trial.environment.emplace_back("PYTHONPATH", package_dir_);
    trial.run_dir = examine::trial_dir(out_, label);
    trial.emulation = emulation_ ? &*emulation_ : nullptr;
    trial.isolation = &*isolation_;
    // The run before is what all others are compared with, and predicted from.
    const bool until_known = options_.length.until_known && label != examine::kBefore;
    trial.length = {.seconds = options_.length.seconds, .until_known = until_known};
    return trial::run_trial(parts_, trial, listener_);
  }

  Status try_more_workers(DemoResult& result) {
    const advise::CatalogueEntry& entry = *advise::find_entry("more_workers");
    const advise::Remedy* remedy = result.job.before.advice.find(entry.id);
    listener_.begins(entry.id, remedy == nullptr ? "" : entry.apply(*remedy)->change);
    if (remedy == nullptr) {
      listener_.not_tried(entry.id, "the diagnosis does not advise it");
      return {};
    }
    const advise::Application application = *entry.apply(*remedy);
    const auto after = measure(entry.id, {plain_script_, data_folder_, application.environment()});
    if (!after) return forward_error(after);
    keep(*after, entry.id, application.change, result);
    return {};
  }

  Status try_folder(DemoResult& result) {
    const std::string how = "from unstarve import DataLoader, in the place of torch's";
    listener_.begins("unstarve_loader", how);
    return try_native("unstarve_loader", how, {fixed_script_, data_folder_}, result);
  }

  Status try_native(const char* remedy, const std::string& how, const Attempt& attempt,
                    DemoResult& result) {
    const auto after = measure(remedy, attempt);
    if (!after) return forward_error(after);
    keep(*after, remedy, how, result);
    return {};
  }

  /// The epochs that fill the cache are not measured; the cache is taken away again at the end.
  Status try_cache(DemoResult& result) {
    const std::string how = "UNSTARVE_CACHE_DIR=DIR beside it, from the second epoch on";
    listener_.begins("unstarve_cache", how);
    const examine::ScratchFolder cache = examine::ScratchFolder::at(out_ + "/" + kCacheName);
    const auto filled = fill(cache.path());
    if (!filled) return not_tried("unstarve_cache", filled.error().message, result);
    listener_.filled(*filled, result.calibration);
    result.cache = *filled;
    return try_native("unstarve_cache", how,
                      {fixed_script_, some_images_, {{"UNSTARVE_CACHE_DIR", cache.path()}}},
                      result);
  }

  /// Links to what is copied, made when they are first asked for.
  const Result<examine::ImageSample>& some_images() {
    if (!linked_) linked_ = examine::link_some_images(data_folder_, some_images_, kCopiedImages);
    return *linked_;
  }

  Result<examine::FilledCache> fill(const std::string& cache) {
    if (const auto& some = some_images(); !some) return forward_error(some);
    auto filled =
        examine::fill_cache(some_images_, cache, [&](std::uint64_t done, std::uint64_t total) {
          listener_.copies("first epoch", done, total);
        });
    listener_.copied();
    return filled;
  }

  /// Packs some of the images as `unstarve pack` does, and takes the shards away again at the end.
  Status try_shards(DemoResult& result) {
    const std::string how = "unstarve pack DATA SHARDS, then ImageLoader(SHARDS, device=\"cuda\")";
    listener_.begins("unstarve_shards", how);
    const examine::ScratchFolder shards = examine::ScratchFolder::at(out_ + "/" + kShardsName);
    const auto packed = pack(shards.path());
    if (!packed) return not_tried("unstarve_shards", packed.error().message, result);
    listener_.packed(*packed);
    return try_native("unstarve_shards", how,
                      {parts_.example_dir + "/train_image_loader.py", shards.path()}, result);
  }

  Result<feed::PackSummary> pack(const std::string& shards) {
    if (const auto& some = some_images(); !some) return forward_error(some);
    feed::PackOptions options;
    options.source = some_images_;
    options.target = shards;
    auto job = feed::PackJob::open(options);
    if (!job) return forward_error(job);
    auto packed = job->run([&](const feed::PackProgress& now) {
      listener_.copies("unstarve pack", now.done, now.total);
    });
    listener_.copied();
    return packed;
  }

  void keep(const examine::Examination& after, const std::string& remedy, const std::string& how,
            DemoResult& result) {
    result.job.verification.push_back(
        trial::verify({result.job.before, result.job.before, after}, remedy, how));
    listener_.measured(result.job.verification.back());
  }

  const launch::Installation& parts_;
  const DemoOptions& options_;
  DemoListener& listener_;
  std::string out_;
  std::string package_dir_;
  std::string data_folder_;
  std::string some_images_;
  std::optional<Result<examine::ImageSample>> linked_;
  std::string plain_script_;
  std::string fixed_script_;
  std::optional<launch::Emulation> emulation_;
  std::optional<isolation::Isolation> isolation_;
};

}  // namespace

Result<DemoResult> run_demo(const launch::Installation& parts, const DemoOptions& options,
                            DemoListener& listener) {
  return Demo(parts, options, listener).run();
}

}  // namespace unstarve::demo
