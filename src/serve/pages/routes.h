#pragma once

#include <string>
#include <vector>

#include "serve/http/message.h"
#include "serve/state/run_shelf.h"
#include "serve/state/scraped_runs.h"

namespace unstarve::serve {

/// Answers every address. What is asked for wrongly is refused with a sentence.
class Routes {
 public:
  explicit Routes(RunShelf& shelf) : shelf_(shelf) {}
  Reply answer(const Request& request);

 private:
  Reply list(const Request& request);
  Reply list_json(const Request& request);
  Reply run(const Request& request);
  Reply run_json(const Request& request);
  Reply compare(const Request& request);
  Reply compare_json(const Request& request);
  Reply curves(const Request& request);
  Reply metrics_json(const Request& request);
  Reply series(const Request& request);
  Reply prometheus(const Request& request);

  RunShelf& shelf_;
  ScrapedRuns scraped_;
};

}  // namespace unstarve::serve
