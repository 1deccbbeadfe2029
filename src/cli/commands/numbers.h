#pragma once

#include <CLI/CLI.hpp>

namespace unstarve::cli {

/// For options that take a number: says in one line what it takes and what it got.
CLI::Validator number_between(double low, double high);

}  // namespace unstarve::cli
