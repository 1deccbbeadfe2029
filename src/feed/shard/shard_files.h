#pragma once

#include <string>

#include "base/io/files.h"

namespace unstarve::feed {

/// Opens a regular file. Errors name it.
Result<FileDescriptor> open_to_read(io::Files& files, const std::string& path);
/// Makes the file if it is not there; what is in it stays.
Result<FileDescriptor> open_to_write(io::Files& files, const std::string& path);

/// Makes the folder and those above it. kNoPermission when it belongs to another user, who could
/// decide what is read from it.
Status make_own_folder(io::Files& files, const std::string& path);

/// Puts `name` and a colon before the message of an error.
tl::unexpected<Error> error_in(const std::string& name, Error error);

}  // namespace unstarve::feed
