#pragma once

#include <string>
#include <string_view>

#include "trial/permanent/loader_change.h"

namespace unstarve::trial {

/// A unified diff, without context, that makes the change in `source`, for `patch`; empty where the
/// call at `line`, or what it is made by, cannot be changed safely. `name`: of the file.
std::string source_diff(std::string_view source, std::size_t line, const LoaderChange& change,
                        const std::string& name);

/// The same for a place such as "train.py:41", of a file below the working directory or with its
/// whole path; empty also where the file cannot be read.
std::string diff_at(const std::string& place, const LoaderChange& change);

}  // namespace unstarve::trial
