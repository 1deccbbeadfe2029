#pragma once

#include <string>
#include <vector>

#include "report/terminal/terminal.h"

namespace unstarve::report {

struct Cell {
  std::vector<std::string> lines;  // printable; usually one
  Tone tone = Tone::kPlain;
};

struct Column {
  std::vector<std::string> title;  // lines, set from the bottom
  bool numbers = true;             // set to the right
};

/// A table without rules: titles, a thin line, rows. Every row has one cell per column.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Columns of the terminal that the table takes.
int table_width(const Table& table);

std::string render_table(const Table& table, const TextOptions& options);

}  // namespace unstarve::report
