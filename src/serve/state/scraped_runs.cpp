#include "serve/state/scraped_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace unstarve::serve {

std::string ScrapedRuns::scrape(const std::vector<std::string>& going_on) {
  for (const std::string& folder : going_on) {
    if (runs_.contains(folder)) continue;
    auto follower = sink::RunFollower::open(folder);
    if (!follower) continue;
    runs_.emplace(folder, Followed{std::make_unique<sink::RunFollower>(*std::move(follower)),
                                   std::make_unique<sink::Exposition>()});
  }
  std::vector<sink::Family> families;
  for (auto run = runs_.begin(); run != runs_.end();) {
    const auto followed = run->second.follower->advance(*run->second.exposition);
    if (followed) {
      for (sink::Family& family : run->second.exposition->families()) {
        families.push_back(std::move(family));
      }
    }
    const bool goes_on =
        followed && std::find(going_on.begin(), going_on.end(), run->first) != going_on.end();
    run = goes_on ? std::next(run) : runs_.erase(run);
  }
  return sink::exposition_text(families);
}

}  // namespace unstarve::serve
