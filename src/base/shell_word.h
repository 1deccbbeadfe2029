#pragma once

#include <string>
#include <string_view>

namespace unstarve {

/// `text` as one word of a shell command, quoted only where it has to be.
std::string shell_word(std::string_view text);

}  // namespace unstarve
