#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial/permanent/loader_change.h"

namespace unstarve::trial {

/// A unified diff, without context, that makes the change in `source`, for `patch`; empty where the
/// call at `line`, or what it is made by, cannot be changed safely. `name`: of the file.
std::string source_diff(std::string_view source, std::size_t line, const LoaderChange& change,
                        const std::string& name);

/// A file of the job with a change in it, which is not made.
struct SourceChange {
  std::string file;  // whole
  std::string text;  // with the change
  std::string diff;  // names the file from the working directory on where it lies below that
};

/// The same for a file and a place in it, such as "train.py:41". None where the call cannot be
/// changed safely, or the file cannot be read.
std::optional<SourceChange> change_source(const std::string& file, const std::string& place,
                                          const LoaderChange& change);

}  // namespace unstarve::trial
