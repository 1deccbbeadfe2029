#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unstarve::cli {

/// Of these the one that somebody may have meant by `word`: at most two letters are others. Empty
/// where there is none.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

}  // namespace unstarve::cli
