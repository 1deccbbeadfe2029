#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "observe/import/byte_source.h"

namespace unstarve::observe {

/// Decompresses `compressed`, which starts with a gzip header, member after member. Zero padding
/// after the last one is skipped, anything else there is an error, as is a member that is damaged
/// or cut off; both name the byte of the compressed file.
Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<ByteSource> compressed,
                                                     std::string name);

}  // namespace unstarve::observe
