#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::trace {

/// A gzip of `text` in base64, as a field of a database takes it. The same text gives the same
/// bytes. Errors: no memory.
Result<std::string> pack_text(std::string_view text);

/// The text in what pack_text() made, or any other program. Errors: kCorruptData, also where the
/// text is longer than `bytes_most`; no memory.
Result<std::string> unpack_text(std::string_view packed, std::size_t bytes_most);

}  // namespace unstarve::trace
