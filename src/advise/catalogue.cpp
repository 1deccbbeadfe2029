#include "advise/catalogue.h"

#include <algorithm>
#include <map>

#include "advise/all_remedies.h"

namespace unstarve::advise {

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> kEntries = [] {
    std::vector<CatalogueEntry> entries = all_remedies();
    std::sort(entries.begin(), entries.end(), [](const CatalogueEntry& a, const CatalogueEntry& b) {
      return a.effort != b.effort ? a.effort < b.effort : a.id < b.id;
    });
    return entries;
  }();
  return kEntries;
}

const CatalogueEntry* find_entry(std::string_view id) {
  const auto found =
      std::find_if(catalogue().begin(), catalogue().end(),
                   [id](const CatalogueEntry& entry) { return std::string_view(entry.id) == id; });
  return found == catalogue().end() ? nullptr : &*found;
}

std::vector<Remedy> offers(const Situation& situation, const std::vector<std::string>& rules) {
  std::vector<Remedy> remedies;
  for (const std::string& rule : rules) {
    for (const CatalogueEntry& entry : catalogue()) {
      const bool offered = std::any_of(remedies.begin(), remedies.end(),
                                       [&](const Remedy& r) { return r.id == entry.id; });
      if (offered) continue;
      std::optional<Remedy> remedy = entry.offer(situation, rule);
      if (!remedy) continue;
      remedy->id = entry.id;
      remedies.push_back(*std::move(remedy));
    }
  }
  return remedies;
}

CatalogueEntry plain_entry(
    std::string id, Effort effort,
    std::initializer_list<std::pair<std::string_view, std::string_view>> how_by_rule) {
  const std::map<std::string_view, std::string_view> words(how_by_rule.begin(), how_by_rule.end());
  const auto offer = [words](const Situation&, std::string_view rule) -> std::optional<Remedy> {
    const auto found = words.find(rule);
    if (found == words.end()) return std::nullopt;
    Remedy remedy;
    remedy.how = std::string(found->second);
    return remedy;
  };
  return {.id = std::move(id), .effort = effort, .offer = offer};
}

}  // namespace unstarve::advise
