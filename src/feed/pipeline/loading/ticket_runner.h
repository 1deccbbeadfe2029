#pragma once

#include <stop_token>

#include "base/clock.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/pipeline/loading/loader_counters.h"
#include "feed/pipeline/loading/quarantine.h"
#include "feed/pipeline/loading/read_ahead.h"
#include "feed/pipeline/loading/sample_stages.h"
#include "feed/pipeline/window/batch_window.h"

namespace unstarve::feed {

/// Loads the samples that tickets name, and applies the rules for those that cannot be loaded: a
/// device that fails for the moment is asked again, what is broken is an error, left out or
/// replaced (OnError). Each loading thread has one.
class TicketRunner {
 public:
  /// What the runners of all threads share.
  struct Shared {
    const LoaderOptions& options;
    SampleSource& source;
    Clock& clock;
    Quarantine& quarantine;
    LoaderCounters& counters;
  };
  /// What is shared must outlive the runner.
  TicketRunner(const Shared& shared, SampleStages stages);

  /// Loads the sample and finishes the ticket, whatever happens. A cancelled window ends waits.
  void run(const Ticket& ticket, BatchWindow& window) noexcept;

 private:
  void load_and_finish(const Ticket& ticket, BatchWindow& window);
  /// Loads another sample in the place of one that failed with `status`; `key` is then that one's.
  Status replace(const Ticket& ticket, Status status, DrawKey& key, const std::stop_token& stop);
  Status load(const DrawKey& key, std::uint8_t* image, const std::stop_token& stop);
  void note_failure(const DrawKey& key, const Error& error);

  /// Lets the system fetch what will be read in a while.
  void announce(const Ticket& ticket);

  Shared shared_;
  SampleStages stages_;
  ReadAhead read_ahead_;
};

}  // namespace unstarve::feed
