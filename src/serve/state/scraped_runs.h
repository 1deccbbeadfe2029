#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sink/exposition/exposition.h"
#include "sink/run_follower.h"

namespace unstarve::serve {

/// The runs that go on, as Prometheus reads them: each is followed from its first row on, by one
/// portion a scrape. A run that has ended stays for one scrape more, with its totals.
class ScrapedRuns {
 public:
  /// `going_on`: folders of runs. What cannot be read is left out.
  std::string scrape(const std::vector<std::string>& going_on);

 private:
  struct Followed {
    std::unique_ptr<sink::RunFollower> follower;
    std::unique_ptr<sink::Exposition> exposition;
  };
  std::map<std::string, Followed> runs_;  // by folder
};

}  // namespace unstarve::serve
