#include "report/text/tried_predictions.h"

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/terminal/table.h"
#include "report/text/sections.h"

namespace unstarve::report {

namespace {

Cell plain(const std::string& text, const TextOptions& options) {
  return {{printable(text, options)}};
}

}  // namespace

std::string render_tried_predictions(const std::vector<predict::TriedPrediction>& tried,
                                     const TextOptions& options) {
  if (tried.empty()) {
    return "No prediction was tried in these runs yet: `unstarve run --fix` tries them.\n";
  }
  Table all;
  all.columns = {{{"remedy"}, false},
                 {{"predicted"}, false},
                 {{"measured"}},
                 {{"held"}, false},
                 {{"run"}, false}};
  for (const predict::TriedPrediction& prediction : tried) {
    all.rows.push_back(
        {plain(prediction.remedy, options),
         {{speedup_text(prediction.predicted)}},
         {{number_text(prediction.measured.speedup) + "x"}},
         {{prediction.held ? "yes" : "no"}, prediction.held ? Tone::kPlain : Tone::kBad},
         plain(prediction.run, options)});
  }
  Table sums;
  sums.columns = {{{"remedy"}, false},
                  {{"tried"}},
                  {{"held"}},
                  {{"median", "error"}},
                  {{"nine of ten", "within"}}};
  for (const auto& [remedy, record] : predict::track_records(tried)) {
    sums.rows.push_back(
        {plain(remedy, options),
         {{std::to_string(record.tried)}},
         {{std::to_string(record.held)}, predict::was_too_sure(record) ? Tone::kBad : Tone::kPlain},
         {{percent_cell(record.median_error)}},
         {{percent_cell(record.wide_error)}}});
  }
  return heading("Predictions that were tried", options) + render_table(all, options) + "\n" +
         heading("By remedy", options) + render_table(sums, options);
}

}  // namespace unstarve::report
