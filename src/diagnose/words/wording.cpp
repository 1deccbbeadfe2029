#include "diagnose/words/wording.h"

namespace unstarve::diagnose {

std::string at(const std::string& place) { return place.empty() ? "" : " at " + place; }

}  // namespace unstarve::diagnose
