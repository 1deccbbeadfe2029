#include "roofline/roofs/roof.h"

#include <algorithm>

namespace unstarve::roofline {

std::string group_of(const std::string& name) { return name.substr(0, name.find('.')); }

namespace {

template <class Named>
void merge_named(const std::vector<Named>& measured, const std::vector<std::string>& complete,
                 std::vector<Named>& known) {
  const auto replaced = [&](const Named& old) {
    return std::count(complete.begin(), complete.end(), group_of(old.name)) > 0 ||
           std::any_of(measured.begin(), measured.end(),
                       [&old](const Named& now) { return now.name == old.name; });
  };
  known.erase(std::remove_if(known.begin(), known.end(), replaced), known.end());
  known.insert(known.end(), measured.begin(), measured.end());
}

/// `absent` names a roof, or a part of the machine with all its roofs.
bool covers(const std::string& absent, const std::string& name) {
  return name == absent || name.rfind(absent + ".", 0) == 0;
}

}  // namespace

void merge(const MachineRoofs& measured, const std::vector<std::string>& complete,
           MachineRoofs& known) {
  merge_named(measured.roofs, complete, known.roofs);
  merge_named(measured.absent, complete, known.absent);
  const auto measured_now = [&measured](const AbsentRoof& absent) {
    return std::any_of(measured.roofs.begin(), measured.roofs.end(),
                       [&absent](const Roof& roof) { return covers(absent.name, roof.name); });
  };
  known.absent.erase(std::remove_if(known.absent.begin(), known.absent.end(), measured_now),
                     known.absent.end());
}

}  // namespace unstarve::roofline
