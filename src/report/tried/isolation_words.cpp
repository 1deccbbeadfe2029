#include "report/tried/isolation_words.h"

#include <fmt/format.h>

namespace unstarve::report {

namespace {

std::string files_words(const isolation::Isolation& by) {
  switch (by.means()) {
    case isolation::Means::kLayers:
    case isolation::Means::kUserLayers:
      return "what trials write is dropped, and all of them begin from the same files";
    case isolation::Means::kGuard:
      return fmt::format(
          "trials are watched: they may not write over what is there, and what they make is "
          "removed ({})",
          by.why_not());
    case isolation::Means::kNone: break;
  }
  if (by.wish().in_place) return "trials write where the job writes (--in-place)";
  return fmt::format(
      "each trial has a folder of its own where the command says {{trial}}; nothing else keeps "
      "them from the job's files ({})",
      by.why_not());
}

}  // namespace

std::string isolation_sentence(const isolation::Isolation& by) {
  return files_words(by) +
         (by.wish().online ? "; experiment trackers hear of them (--online)"
                           : "; experiment trackers hear nothing of them (--online lets them)");
}

}  // namespace unstarve::report
