#include "tune/asked_arguments.h"

#include "tune/levers/class_argument.h"

namespace unstarve::tune {

namespace {

/// Why there is no value to begin with; none where there is.
Reason why_without_value(const Argument& argument, const TrialResult& first_run) {
  const auto found = first_run.constructed.find(argument.option);
  if (found == first_run.constructed.end()) {
    return {ReasonKind::kOptionUnknown, {{"option", argument.option}}};
  }
  if (!found->second.why_not.empty()) return quoted(found->second.why_not);
  const std::int64_t value = found->second.value;
  const bool may_be_none = argument.name == kWorkersArgument;
  if (value > 0 || (value == 0 && may_be_none)) return {};
  return {ReasonKind::kOptionNoNumber,
          {{"option", argument.option}, {"value", static_cast<double>(value)}}};
}

}  // namespace

AskedArguments settle_arguments(const std::vector<Argument>& asked, const TrialResult& first_run) {
  AskedArguments settled;
  for (Argument argument : asked) {
    if (find_class_argument(argument.option) == nullptr) {
      settled.known.push_back(std::move(argument));
      continue;
    }
    LeverResult row;
    if (!row.settle_if(Outcome::kNotApplicable, why_without_value(argument, first_run))) {
      argument.value = first_run.constructed.at(argument.option).value;
      settled.known.push_back(std::move(argument));
      continue;
    }
    row.lever = argument_lever(argument, 0);
    row.lever.id = argument.name;
    settled.without_value.push_back(std::move(row));
  }
  return settled;
}

Argument as_kept(Argument argument, const std::vector<LeverResult>& levers,
                 const std::vector<std::size_t>& kept) {
  for (const std::size_t index : kept) {
    for (const auto& [option, value] : levers[index].lever.arguments) {
      if (option == argument.option) argument.value = std::stoll(value);
    }
  }
  return argument;
}

}  // namespace unstarve::tune
