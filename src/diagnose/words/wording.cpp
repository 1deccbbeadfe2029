#include "diagnose/words/wording.h"

#include <cctype>

namespace unstarve::diagnose {

std::string at(const std::string& place) { return place.empty() ? "" : " at " + place; }

std::string capitalised(std::string words) {
  if (words.empty()) return words;
  words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  return words;
}

}  // namespace unstarve::diagnose
