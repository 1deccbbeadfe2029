#include "serve/pages/routes.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number_words.h"
#include "compare/comparison.h"
#include "report/compared/comparison_json.h"
#include "report/compared/comparison_page.h"
#include "report/html/assets.h"
#include "report/html/escape.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/runs/runs_json.h"
#include "report/words/json_text.h"
#include "serve/assets/assets.h"
#include "serve/pages/columns.h"
#include "serve/pages/curves_page.h"
#include "serve/pages/own_page.h"
#include "serve/pages/run_list.h"

namespace unstarve::serve {

namespace {

/// More make no picture that anybody reads.
constexpr std::size_t kRunsMax = 8;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kUnreadable = 422;

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound: return kNotFound;
    case ErrorCode::kInvalidArgument: return kBadRequest;
    default: return kUnreadable;
  }
}

Reply page_of(const Error& error) { return page_of_error(status_of(error), error.message); }
Reply text_of(const Error& error) { return refuse(status_of(error), error.message); }

Reply json_reply(std::string body) {
  Reply reply;
  reply.type = kJson;
  reply.body = std::move(body);
  return reply;
}

Reply asset(const char* type, std::string body) {
  Reply reply;
  reply.type = type;
  reply.body = std::move(body);
  reply.may_keep = true;
  return reply;
}

/// The runs that are asked for: `most` at most.
Result<std::vector<std::string>> runs_of(const Request& request, std::size_t least) {
  std::vector<std::string> names = request.values("run");
  if (names.size() >= least && names.size() <= kRunsMax) return names;
  return fail(ErrorCode::kInvalidArgument, "choose {} to {} runs; these are {}", least, kRunsMax,
              names.size());
}

/// A number of the address; `otherwise` where it has none. Errors: it is no finite number.
Result<double> number_of(const Request& request, const char* name, double otherwise) {
  const std::string_view text = request.value(name);
  if (text.empty()) return otherwise;
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return fail(ErrorCode::kInvalidArgument, "{} is no number", name);
  }
  return number;
}

Result<ColumnsWish> wish_of(const Request& request) {
  ColumnsWish wish;
  const auto from = number_of(request, "from", 0);
  const auto to = number_of(request, "to", 0);
  const auto points = number_of(request, "points", wish.points);
  for (const auto* const one : {&from, &to, &points}) {
    if (!*one) return forward_error(*one);
  }
  wish.from_s = *from;
  wish.to_s = *to;
  wish.points = static_cast<int>(std::clamp(*points, 1.0, static_cast<double>(kPointsMax)));
  if (request.value("since") == "training") wish.since = Since::kTraining;
  return wish;
}

/// Links to the runs that belong together with this one.
std::string parts_html(const std::string& name, const std::vector<RunPart>& parts) {
  if (parts.empty()) return {};
  std::string links;
  std::vector<std::string> names;
  for (const RunPart& part : parts) {
    if (names.size() < kRunsMax) names.push_back(part.name);
    const std::string label = report::escape(part.label);
    const bool is_this = part.name == name;
    links += is_this ? fmt::format("<strong aria-current=\"page\">{}</strong>", label)
                     : fmt::format("<a href=\"{}\">{}</a>",
                                   report::escape(link_to("/run", "name", part.name)), label);
    if (part.duration_s) links += " " + seconds_text(*part.duration_s);
    links += " &middot; ";
  }
  return fmt::format(
      "<nav class=\"top-facts\" aria-label=\"Runs that belong together\">{}<a href=\"{}\">over "
      "each "
      "other</a> &middot; <a href=\"{}\">compared</a></nav>\n",
      links, report::escape(link_to_runs("/curves", names)),
      report::escape(link_to_runs("/compare", names)));
}

std::string links_of(const std::string& name) {
  return fmt::format(
      "<nav class=\"top-facts\"><a href=\"/\">All runs</a> &middot; <a href=\"{}\">Every curve</a> "
      "&middot; <a href=\"{}\">JSON</a></nav>\n",
      report::escape(link_to("/curves", "run", name)),
      report::escape(link_to("/api/run", "name", name)));
}

Result<std::vector<compare::Comparison>> compared(RunShelf& shelf, const Request& request) {
  const auto names = runs_of(request, 2);
  if (!names) return forward_error(names);
  std::vector<compare::Side> sides;
  for (const std::string& name : *names) {
    const auto path = shelf.find(name);
    if (!path) return forward_error(path);
    auto side = compare::read_side(*path, {});
    if (!side) return forward_error(side);
    sides.push_back(*std::move(side));
  }
  std::vector<compare::Comparison> comparisons;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    comparisons.push_back(compare::compare(sides.front(), sides[i]));
    comparisons.back().cost = compare::work_cost(sides.front(), sides[i], shelf.rates());
  }
  return comparisons;
}

}  // namespace

Reply Routes::answer(const Request& request) {
  using Answer = Reply (Routes::*)(const Request&);
  static constexpr std::pair<std::string_view, Answer> kAddresses[] = {
      {"/", &Routes::list},
      {"/run", &Routes::run},
      {"/compare", &Routes::compare},
      {"/curves", &Routes::curves},
      {"/metrics", &Routes::prometheus},
      {"/api/runs", &Routes::list_json},
      {"/api/run", &Routes::run_json},
      {"/api/compare", &Routes::compare_json},
      {"/api/metrics", &Routes::metrics_json},
      {"/api/series", &Routes::series},
      {"/api/series.csv", &Routes::series},
      {"/api/series.svg", &Routes::series},
  };
  for (const auto& [path, answer] : kAddresses) {
    if (path == request.path) return (this->*answer)(request);
  }
  constexpr const char* kScript = "text/javascript; charset=utf-8";
  constexpr const char* kStyle = "text/css; charset=utf-8";
  if (request.path == "/assets/unstarve.js") return asset(kScript, std::string(assets::script()));
  if (request.path == "/assets/unstarve.css") {
    return asset(kStyle, std::string(report::assets::style()) + std::string(assets::style()));
  }
  if (request.path == "/assets/dygraph.js") return asset(kScript, std::string(assets::dygraphs()));
  if (request.path == "/assets/dygraph.css") {
    return asset(kStyle, std::string(assets::dygraph_style()));
  }
  return page_of_error(kNotFound, "There is no page at this address.");
}

Reply Routes::list(const Request& /*request*/) {
  const auto listed = shelf_.list();
  return listed ? run_list_page(*listed, shelf_.folder()) : page_of(listed.error());
}

Reply Routes::list_json(const Request& /*request*/) {
  const auto listed = shelf_.list();
  return listed ? json_reply(report::runs_json(*listed, shelf_.folder())) : text_of(listed.error());
}

Reply Routes::run(const Request& request) {
  const std::string name(request.value("name"));
  const auto report = shelf_.report(name);
  if (!report) return page_of(report.error());
  Reply reply;
  reply.body = report::render_html(**report, links_of(name) + parts_html(name, shelf_.parts(name)));
  reply.policy = kNamedInThePage;
  return reply;
}

Reply Routes::run_json(const Request& request) {
  const auto report = shelf_.report(std::string(request.value("name")));
  if (!report) return text_of(report.error());
  return json_reply(report::to_json(**report, !(*report)->verification.empty()));
}

Reply Routes::compare(const Request& request) {
  const auto comparisons = compared(shelf_, request);
  if (!comparisons) return page_of(comparisons.error());
  Reply reply;
  reply.body = report::comparison_page(
      *comparisons, fmt::format("<nav class=\"top-facts\"><a href=\"/\">All runs</a> &middot; <a "
                                "href=\"{}\">Their curves over each other</a></nav>\n",
                                report::escape(link_to_runs("/curves", request.values("run")))));
  reply.policy = kNamedInThePage;
  return reply;
}

Reply Routes::compare_json(const Request& request) {
  const auto comparisons = compared(shelf_, request);
  if (!comparisons) return text_of(comparisons.error());
  std::string body = "[";
  for (const compare::Comparison& comparison : *comparisons) {
    body += (body.size() > 1 ? ",\n" : "") + report::comparison_json(comparison);
  }
  return json_reply(body + "]\n");
}

Reply Routes::curves(const Request& request) {
  const auto names = runs_of(request, 1);
  if (!names) return page_of(names.error());
  for (const std::string& name : *names) {
    if (const auto path = shelf_.find(name); !path) return page_of(path.error());
  }
  return curves_page(*names);
}

Reply Routes::metrics_json(const Request& request) {
  using Json = nlohmann::ordered_json;
  const auto curves = shelf_.curves(std::string(request.value("run")));
  if (!curves) return text_of(curves.error());
  Json document = {{"schema", "unstarve.metrics/1"}, {"metrics", Json::array()}};
  for (const Curve* const curve : (*curves)->all()) {
    document["metrics"].push_back({{"name", curve->metric.name},
                                   {"subject", curve->metric.subject},
                                   {"unit", curve->metric.unit},
                                   {"description", curve->metric.description},
                                   {"source", curve->metric.source},
                                   {"samples", curve->series.t_s.size()}});
  }
  return json_reply(report::json_text(document));
}

Reply Routes::series(const Request& request) {
  const auto names = runs_of(request, 1);
  if (!names) return text_of(names.error());
  const auto wish = wish_of(request);
  if (!wish) return text_of(wish.error());
  std::vector<NamedCurve> found;
  for (const std::string& name : *names) {
    const auto curves = shelf_.curves(name);
    if (!curves) return text_of(curves.error());
    for (const Curve* const curve :
         (*curves)->find(request.value("metric"), request.value("subject"))) {
      found.push_back({name, curve->metric, curve->series});
      found.back().series.training_from_s = (*curves)->training_from_s();
    }
  }
  if (found.empty()) return refuse(kNotFound, "none of these runs has such a metric");
  const Columns columns = columns_of(std::move(found), *wish);
  if (request.path == "/api/series") return json_reply(columns_json(columns));
  Reply reply;
  const bool is_picture = request.path == "/api/series.svg";
  reply.type = is_picture ? "image/svg+xml" : "text/csv; charset=utf-8";
  reply.body = is_picture ? columns_svg(columns) : columns_csv(columns);
  reply.policy = "default-src 'none'; style-src 'unsafe-inline'";
  reply.file_name = is_picture ? "unstarve.svg" : "unstarve.csv";
  return reply;
}

Reply Routes::prometheus(const Request& /*request*/) {
  const auto listed = shelf_.list();
  if (!listed) return text_of(listed.error());
  std::vector<std::string> going_on;
  for (const runs::ListedRun& run : *listed) {
    if (run.state == runs::RunState::kRunning) {
      going_on.push_back(shelf_.folder() + "/" + run.run->summary.name);
    }
  }
  Reply reply;
  reply.type = kPrometheusText;
  reply.body = scraped_.scrape(going_on);
  return reply;
}

}  // namespace unstarve::serve
