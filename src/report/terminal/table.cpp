#include "report/terminal/table.h"

#include <algorithm>
#include <numeric>

namespace unstarve::report {
namespace {

constexpr int kGap = 2;  // blanks between two columns

int widest(const std::vector<std::string>& lines) {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  return width;
}

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = widest(table.columns[c].title);
    for (const auto& row : table.rows) width = std::max(width, widest(row[c].lines));
    widths.push_back(width);
  }
  return widths;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// One line of a row: the `index`-th line of each cell, or of each title counted from the bottom.
struct LineCell {
  std::string text;
  Tone tone;
};

std::string render_line(const std::vector<LineCell>& cells, const Table& table,
                        const std::vector<int>& widths, const TextOptions& options) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += repeat(" ", kGap);
    const std::string blanks = repeat(" ", widths[c] - display_width(cells[c].text));
    const std::string painted = paint(cells[c].text, cells[c].tone, options);
    line += table.columns[c].numbers ? blanks + painted : painted + blanks;
  }
  return trimmed(std::move(line));
}

std::string line_or_blank(const std::vector<std::string>& lines, std::size_t index) {
  return index < lines.size() ? lines[index] : std::string();
}

std::string render_titles(const Table& table, const std::vector<int>& widths,
                          const TextOptions& options) {
  std::size_t height = 0;
  for (const Column& column : table.columns) height = std::max(height, column.title.size());
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<LineCell> cells;
    for (const Column& column : table.columns) {
      const std::size_t missing = height - column.title.size();
      cells.push_back({line < missing ? "" : column.title[line - missing], Tone::kFaint});
    }
    text += render_line(cells, table, widths, options);
  }
  return text;
}

}  // namespace

int table_width(const Table& table) {
  const std::vector<int> widths = column_widths(table);
  const int gaps = widths.empty() ? 0 : kGap * (static_cast<int>(widths.size()) - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

std::string render_table(const Table& table, const TextOptions& options) {
  const std::vector<int> widths = column_widths(table);
  std::string text = render_titles(table, widths, options);
  const std::string rule = repeat(options.unicode ? "─" : "-", table_width(table));
  text += paint(rule, Tone::kFaint, options) + "\n";
  for (const auto& row : table.rows) {
    std::size_t height = 1;
    for (const Cell& cell : row) height = std::max(height, cell.lines.size());
    for (std::size_t line = 0; line < height; ++line) {
      std::vector<LineCell> cells;
      for (const Cell& cell : row) cells.push_back({line_or_blank(cell.lines, line), cell.tone});
      text += render_line(cells, table, widths, options);
    }
  }
  return text;
}

}  // namespace unstarve::report
