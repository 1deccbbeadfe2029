#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cost/rates/rates.h"

namespace unstarve::serve {

struct DashboardOptions {
  std::string folder;              // of runs
  std::string host = "127.0.0.1";  // listened at
  int port = 8321;                 // 0: one that is free
  std::string token;               // empty: none, on loopback; elsewhere one is made
  cost::Rates rates;
};

/// Serves a folder of runs to browsers and to Prometheus.
///
///   auto dashboard = Dashboard::open(options, clock);
///   print((*dashboard)->address());
///   (*dashboard)->run(is_stopped);
///
/// Thread rule: one thread.
class Dashboard {
 public:
  /// Listens from here on. Errors: the folder is none of runs; the address cannot be used.
  static Result<std::unique_ptr<Dashboard>> open(DashboardOptions options, Clock& clock);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// "http://127.0.0.1:8321/", with the token where one is asked for.
  std::string address() const;
  Status run(const std::function<bool()>& is_stopped);

 private:
  struct Parts;
  explicit Dashboard(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace unstarve::serve
