#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace unstarve::serve {

/// Where a run's series are offered: "9400", ":9400" or "HOST:9400". Without a host it is this
/// machine's own address.
struct EndpointAddress {
  std::string host = "127.0.0.1";
  int port = 0;
};
/// Errors: kInvalidArgument.
Result<EndpointAddress> parse_endpoint(const std::string& text);

/// Offers the series of one run at /metrics for as long as this lives, from a thread of its own,
/// which reads the run's store: neither the job nor what watches it waits for a scrape.
class MetricsEndpoint {
 public:
  /// The run need not have begun. Errors: the address cannot be used.
  static Result<std::unique_ptr<MetricsEndpoint>> open(const EndpointAddress& address,
                                                       const std::string& run_dir);
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// "http://127.0.0.1:9400/metrics"
  std::string address() const;

 private:
  struct Impl;
  explicit MetricsEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::serve
