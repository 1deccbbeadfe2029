#pragma once

#include <string>
#include <string_view>

namespace unstarve::compare {

/// What `b` has in place of `a`, as `diff -U 1` writes it, without the lines that name the files;
/// empty where they are the same. Of texts of more than 5,000 lines only the part between their
/// common beginning and end is shown, whole.
std::string changed_lines(std::string_view a, std::string_view b);

}  // namespace unstarve::compare
