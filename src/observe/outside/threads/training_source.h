#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/reading.h"
#include "host/host_files.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// For how much of the time threads that train were ready to go on, but had no CPU: once a second
/// one small file for each of them. Which these are the hook tells: those that step or wait for a
/// loader. Subject `job`.
class TrainingSource final : public Source {
 public:
  explicit TrainingSource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "training"; }
  void sample(const Tick& tick, SampleBook& book) override;

  /// A thread that trains; it is looked at from now on, unless there are kMostThreads already.
  void note(std::int64_t pid, std::int64_t thread);

  static constexpr std::size_t kMostThreads = 64;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, thread
  struct Waited {
    Reading<double> ratio;
    bool ended = false;
  };
  Waited read(const Key& key, std::int64_t now_ns);

  const host::HostFiles& files_;
  std::map<Key, Rate> threads_;
};

}  // namespace unstarve::observe
