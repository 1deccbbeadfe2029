#include "diagnose/rules/stage_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/number_words.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

std::string stage_shares(const Signals& signals) {
  if (!is_native(signals) || !signals.read_ratio || !signals.decode_ratio ||
      !signals.transform_ratio || !signals.threads_idle_ratio) {
    return "";
  }
  std::array<std::pair<double, const char*>, 3> shares = {{{*signals.decode_ratio, "decode"},
                                                           {*signals.transform_ratio, "transform"},
                                                           {*signals.read_ratio, "read"}}};
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format(
      "unstarve's loader ({:.0f} thread{}): {}: {} of the time in its stages, {} {}, {} {}; the "
      "threads waited {} of theirs for the training loop",
      *signals.loader_threads, *signals.loader_threads < 1.5 ? "" : "s", shares[0].second,
      percent_text(shares[0].first), shares[1].second, percent_text(shares[1].first),
      shares[2].second, percent_text(shares[2].first), percent_text(*signals.threads_idle_ratio));
  if (signals.fetch_cpu_ratio) {
    text += fmt::format(" and were off the CPU in {} of the rest",
                        percent_text(1 - *signals.fetch_cpu_ratio));
  }
  return text;
}

}  // namespace unstarve::diagnose
