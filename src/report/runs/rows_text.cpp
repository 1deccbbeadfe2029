#include "report/runs/rows_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "report/terminal/table.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

struct CellText {
  const char* number_format;  // of a floating-point number
  std::string operator()(std::nullptr_t) const { return ""; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const {
    return fmt::format(fmt::runtime(number_format), number);
  }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const runs::Blob& blob) const { return hexadecimal(blob.bytes); }
};

struct CellJson {
  Json operator()(std::nullptr_t) const { return nullptr; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(double number) const { return number; }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const runs::Blob& blob) const { return hexadecimal(blob.bytes); }
};

bool is_number_or_null(const runs::Cell& cell) {
  return !std::holds_alternative<std::string>(cell) && !std::holds_alternative<runs::Blob>(cell);
}

/// A cell of CSV, quoted where it has to be.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string rows_table(const runs::QueryResult& result, const TextOptions& options,
                       bool for_terminal) {
  const auto shown = [&](const std::string& text) {
    const std::string safe = printable(text, options);
    return for_terminal ? clip(safe, options.width, options) : safe;
  };
  Table table;
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    bool numbers = !result.rows.empty();
    for (const auto& row : result.rows) numbers = numbers && is_number_or_null(row[i]);
    table.columns.push_back({{shown(result.columns[i])}, numbers});
  }
  for (const auto& row : result.rows) {
    std::vector<Cell> cells;
    for (const runs::Cell& cell : row) {
      const bool absent = std::holds_alternative<std::nullptr_t>(cell);
      cells.push_back({{absent ? "-" : shown(std::visit(CellText{"{:.6g}"}, cell))},
                       absent ? Tone::kFaint : Tone::kPlain});
    }
    table.rows.push_back(std::move(cells));
  }
  return render_table(table, options);
}

Result<std::string> rows_json(const runs::QueryResult& result) {
  Json all = Json::array();
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (result.columns[i] != result.columns[j]) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "two columns are named '{}': JSON needs a name for each (AS other_name)",
                  result.columns[i]);
    }
  }
  for (const auto& row : result.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[result.columns[i]] = std::visit(CellJson{}, row[i]);
    }
    all.push_back(std::move(object));
  }
  return json_text(all);
}

std::string rows_csv(const runs::QueryResult& result, const TextOptions& options,
                     bool for_terminal) {
  const auto shown = [&](const std::string& text) {
    return csv_cell(for_terminal ? printable(text, options) : text);
  };
  std::string csv;
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    csv += (i == 0 ? "" : ",") + shown(result.columns[i]);
  }
  csv += "\n";
  for (const auto& row : result.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      csv += (i == 0 ? "" : ",") + shown(std::visit(CellText{"{}"}, row[i]));
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace unstarve::report
