#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/terminal.h"
#include "cli/console/unreadable.h"
#include "cli/options/cost_options.h"
#include "compare/comparison.h"
#include "compare/limits.h"
#include "report/compared/comparison_json.h"
#include "report/compared/comparison_markdown.h"
#include "report/compared/comparison_page.h"
#include "report/compared/comparison_text.h"

namespace unstarve::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> inputs;
  std::string fail_on;
  std::string json;
  std::string markdown;
  std::string html;
  CostOptions costs;
};

Result<compare::Side> read_one(const std::string& input, bool shown) {
  ReadingLine line(input, shown);
  auto side = compare::read_side(input, line.progress());
  line.clear();
  if (!side) return tl::unexpected<Error>(explained(side.error(), input));
  return side;
}

/// The sides; of a folder of trials alone, the job as it was and with what was kept.
Result<std::vector<compare::Side>> read_sides(const CompareOptions& options) {
  const bool shown = options.json != "-" && options.markdown != "-";
  std::vector<compare::Side> sides;
  for (const std::string& input : options.inputs) {
    auto side = read_one(input, shown);
    if (!side) return forward_error(side);
    sides.push_back(*std::move(side));
  }
  if (sides.size() == 1) {
    auto kept = compare::read_kept(options.inputs.front(), {});
    if (!kept) return forward_error(kept);
    sides.push_back(*std::move(kept));
  }
  return sides;
}

/// Says which limits do not hold; the exit code of all of them.
int judge_limits(const std::vector<compare::Limit>& limits, const compare::Comparison& comparison) {
  int code = kSuccess;
  for (const compare::Limit& limit : limits) {
    switch (compare::judge(limit, comparison)) {
      case compare::Held::kHolds: break;
      case compare::Held::kBroken:
        say(fmt::format("{} against {}: does not hold: {}", comparison.b, comparison.a,
                        limit.text));
        if (code == kSuccess) code = kGateFailed;
        break;
      case compare::Held::kNotCompared:
        say(fmt::format("{} against {}: could not compare: {}: a side does not say it",
                        comparison.b, comparison.a, limit.text));
        code = kUsage;
        break;
    }
  }
  return code;
}

Status show(const std::vector<compare::Comparison>& comparisons, const CompareOptions& options) {
  std::string json;
  std::string markdown;
  std::string text;
  for (const compare::Comparison& comparison : comparisons) {
    json += report::comparison_json(comparison);
    markdown += report::comparison_markdown(comparison);
    if (!text.empty()) text += "\n";
    text += report::render_comparison(comparison, text_options(Stream::kOut));
  }
  if (options.json != "-" && options.markdown != "-") write_text(Stream::kOut, text);
  for (const auto& [path, document] :
       {std::pair(options.json, json), std::pair(options.markdown, markdown),
        std::pair(options.html, report::comparison_page(comparisons))}) {
    if (path.empty()) continue;
    if (Status written = write_file(path, document); !written) return written;
  }
  return {};
}

void compare_all(const CompareOptions& options, CommandContext& context) {
  std::vector<compare::Limit> limits;
  if (!options.fail_on.empty()) {
    auto parsed = compare::parse_limits(options.fail_on);
    if (!parsed) {
      report_error(context, parsed.error());
      return;
    }
    limits = *std::move(parsed);
  }
  const auto rates = rates_of(options.costs);
  if (!rates) return report_error(context, rates.error());
  const auto sides = read_sides(options);
  if (!sides) {
    report_error(context, sides.error());
    context.exit_code = kUsage;
    return;
  }
  std::vector<compare::Comparison> comparisons;
  for (std::size_t i = 1; i < sides->size(); ++i) {
    comparisons.push_back(compare::compare(sides->front(), (*sides)[i]));
    comparisons.back().cost = compare::work_cost(sides->front(), (*sides)[i], *rates);
  }
  if (const Status shown = show(comparisons, options); !shown) {
    report_error(context, shown.error());
    return;
  }
  for (const compare::Comparison& comparison : comparisons) {
    const int code = judge_limits(limits, comparison);
    if (code == kUsage || context.exit_code == kSuccess) context.exit_code = code;
  }
}

}  // namespace

void add_compare_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "compare", "say what changed between recordings of a job, by how much, and why");
  auto options = std::make_shared<CompareOptions>();  // lives as long as the parser's callback
  command
      .option("INPUT", options->inputs,
              "A B [C...]: what others are compared with, then these; run folders, traces or "
              "exports. Several joined by commas are runs of the same thing. One folder of `run "
              "--fix` alone: before and after")
      .required();
  command.option(
      "--fail-on", options->fail_on,
      "limits such as 'step_time>5%,au<90%': exit with 3 where one does not hold, with 2 "
      "where it cannot be compared");
  command.option("--json", options->json,
                 "also write one JSON object per comparison; - is standard output, and nothing "
                 "else is printed");
  command.option("--html", options->html, "also write a page");
  command.option("--markdown", options->markdown, "also write the comparison for a pull request");
  add_cost_options(command, options->costs);
  command.when_named([&context, options] { compare_all(*options, context); });
}

}  // namespace unstarve::cli
