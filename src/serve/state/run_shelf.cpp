#include "serve/state/run_shelf.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "examine/stages/stages.h"
#include "host/host_files.h"
#include "report/run_page.h"
#include "trial/trial_folder.h"

namespace unstarve::serve {

namespace {

/// Of reports and curves; the largest take some 20 MB each.
constexpr std::size_t kKeptMax = 6;

}  // namespace

Status RunShelf::look() {
  auto collection = runs::read_collection(folder_);
  if (!collection) return forward_error(collection);
  collection_ = *std::move(collection);
  return {};
}

Result<std::vector<runs::ListedRun>> RunShelf::list() {
  if (const Status looked = look(); !looked) return forward_error(looked);
  return runs::list_runs(collection_, {}, host::HostFiles(), wall_time_ns());
}

Result<RunShelf::Place> RunShelf::place_of(const std::string& name) {
  if (const Status looked = look(); !looked) return forward_error(looked);
  for (const runs::CollectedRun& run : collection_.runs) {
    if (run.summary.name != name) continue;
    const std::string path = folder_ + "/" + name;
    return Place{path, path, run.summary.fingerprint};
  }
  for (const runs::Entry& entry : runs::entries_of(collection_)) {
    if (entry.name != name) continue;
    Place place = {folder_ + "/" + name, folder_ + "/" + entry.runs.front()->summary.name, {}};
    for (const runs::CollectedRun* const run : entry.runs) {
      place.fingerprint += run->summary.fingerprint + "\n";
    }
    return place;
  }
  return fail(ErrorCode::kNotFound, "there is no run '{}' in {}", name, folder_);
}

Result<std::string> RunShelf::find(const std::string& name) {
  auto place = place_of(name);
  if (!place) return forward_error(place);
  return std::move(place->path);
}

std::vector<RunPart> RunShelf::parts(const std::string& name) const {
  const std::vector<runs::Entry> entries = runs::entries_of(collection_);
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const runs::Entry& one) {
    return one.name == name || std::any_of(one.runs.begin(), one.runs.end(), [&](const auto* run) {
             return run->summary.name == name;
           });
  });
  std::vector<RunPart> parts;
  if (entry == entries.end() || entry->runs.size() < 2) return parts;
  for (const runs::CollectedRun* const run : entry->runs) {
    const std::string& path = run->summary.name;
    const std::string folder = path.substr(path.rfind('/') + 1);
    parts.push_back(
        {path, entry->has_stages() ? run->summary.stage : folder, run->summary.duration_s});
  }
  return parts;
}

RunShelf::Kept& RunShelf::kept(const std::string& name) {
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&name](const Kept& one) { return one.name == name; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
  } else {
    kept_.push_front({name, {}, {}, {}});
    if (kept_.size() > kKeptMax) kept_.pop_back();
  }
  return kept_.front();
}

Result<std::shared_ptr<const report::Report>> RunShelf::report(const std::string& name) {
  const auto place = place_of(name);
  if (!place) return forward_error(place);
  Kept& one = kept(name);
  if (one.report && one.fingerprint == place->fingerprint) return one.report;
  const std::vector<examine::Stage> stages = examine::read_stages(place->path);
  const auto job = trial::read_trials(
      stages.empty() ? place->path : stages[examine::longest_stage(stages)].run_dir, {});
  if (!job) return forward_error(job);
  auto made = std::make_shared<report::Report>(report::make_report(*job));
  report::add_cost(job->before, rates_, *made);
  made->stages = stages;
  one.report = std::move(made);
  one.fingerprint = place->fingerprint;
  return one.report;
}

Result<std::shared_ptr<const Curves>> RunShelf::curves(const std::string& name) {
  const auto place = place_of(name);
  if (!place) return forward_error(place);
  Kept& one = kept(name);
  if (!one.curves) one.curves = std::make_shared<Curves>();
  if (const Status read = one.curves->update(place->first_run); !read) {
    one.curves.reset();
    return forward_error(read);
  }
  return one.curves;
}

}  // namespace unstarve::serve
