#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tune/reason/reason.h"

namespace unstarve::tune {

/// Whether it is of this kind, or a part of it is.
inline bool holds(const Reason& reason, ReasonKind kind) {
  return reason.kind == kind ||
         std::any_of(reason.because.begin(), reason.because.end(),
                     [kind](const Reason& part) { return holds(part, kind); });
}

/// Whether a name or the words of others that stand in it, or in a part of it, hold `text`.
inline bool names(const Reason& reason, std::string_view text) {
  const auto has = [text](const Fact& fact) {
    if (const auto* const words = std::get_if<std::string>(&fact.value)) {
      return words->find(text) != std::string::npos;
    }
    const auto* const list = std::get_if<std::vector<std::string>>(&fact.value);
    return list != nullptr && std::find(list->begin(), list->end(), text) != list->end();
  };
  return std::any_of(reason.facts.begin(), reason.facts.end(), has) ||
         std::any_of(reason.because.begin(), reason.because.end(),
                     [text](const Reason& part) { return names(part, text); });
}

/// A figure of it, or of a part of it; NaN where there is none of that name.
inline double figure(const Reason& reason, std::string_view name) {
  for (const Fact& fact : reason.facts) {
    const auto* const number = std::get_if<double>(&fact.value);
    if (fact.name == name && number != nullptr) return *number;
  }
  for (const Reason& part : reason.because) {
    if (const double found = figure(part, name); !std::isnan(found)) return found;
  }
  return std::nan("");
}

}  // namespace unstarve::tune
