#include "tune/patch/loader_change.h"

#include <fmt/format.h>

#include "diagnose/words/wording.h"

namespace unstarve::tune {

namespace {

const trace::LoaderConfig* training_loader(const examine::Examination& examined) {
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  const job::LoaderUse* loader = job.rank().training_loader();
  return loader == nullptr || !loader->config ? nullptr : &*loader->config;
}

}  // namespace

LoaderChange loader_change(const examine::Examination& before, const examine::Examination& after,
                           const advise::Application& applied) {
  LoaderChange change;
  change.drop_in = applied.is_drop_in();
  change.cached = applied.keeps_samples();
  const trace::LoaderConfig* was = training_loader(before);
  const trace::LoaderConfig* is = training_loader(after);
  if (was == nullptr || is == nullptr) return change;
  const auto add = [&change](const char* name, std::string value) {
    change.arguments.emplace_back(name, std::move(value));
  };
  if (applied.has_threads()) {
    // What is recorded of it is how many threads it had; without workers it chooses them itself.
    const bool has_workers = was->num_workers > 0 || applied.fix.count("beyond_cpus") != 0;
    const auto threads = applied.fix.find("num_workers");
    if (has_workers && threads != applied.fix.end() && is->num_workers != was->num_workers) {
      add("num_workers", threads->second);
    }
  } else {
    if (is->num_workers != was->num_workers) add("num_workers", std::to_string(is->num_workers));
    const std::int64_t prefetch = is->prefetch_factor.value_or(2);
    if (is->num_workers > 0 && prefetch != was->prefetch_factor.value_or(2)) {
      add("prefetch_factor", std::to_string(prefetch));
    }
    if (is->num_workers == 0 && was->persistent_workers.value_or(false)) {
      add("persistent_workers", "False");  // torch takes it with workers only
    }
    if (is->persistent_workers.value_or(false) && !was->persistent_workers.value_or(false)) {
      add("persistent_workers", "True");
    }
  }
  if (is->pin_memory.value_or(false) && !was->pin_memory.value_or(false)) {
    add("pin_memory", "True");
  }
  return change;
}

std::optional<script::EditedScript> written_change(const std::string& python,
                                                   const std::string& file,
                                                   const std::string& place,
                                                   const LoaderChange& change) {
  const auto at = script::read_place(place);
  const bool changes = !change.arguments.empty() || change.drop_in || change.cached;
  if (!at || !changes || file.empty()) return std::nullopt;
  script::CallEdit call;
  call.class_name = "DataLoader";
  call.line = at->line;
  call.arguments = change.arguments;
  call.drop_in = change.drop_in;
  call.cached = change.cached;
  return script::edit_script(python, file, {{{}, {}, "", {call}}});
}

std::string in_words(const LoaderChange& change, const std::string& place) {
  std::vector<std::string> parts;
  if (change.drop_in) {
    parts.emplace_back("from unstarve import DataLoader, in the place of torch.utils.data's");
  }
  if (change.cached) {
    parts.push_back(fmt::format("unstarve.cached(...) around the data set of the DataLoader{}",
                                diagnose::at(place)));
  }
  std::string arguments;
  for (const auto& [name, value] : change.arguments) {
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value);
  }
  if (!arguments.empty()) {
    parts.push_back(fmt::format("{} in the DataLoader{}", arguments, diagnose::at(place)));
  }
  if (arguments.find("persistent_workers") != std::string::npos) {
    parts.emplace_back(
        "with workers that live on torch draws one number less for each pass: from the second on a "
        "shuffled order is another");
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace unstarve::tune
