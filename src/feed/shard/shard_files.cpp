#include "feed/shard/shard_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/io/read.h"

namespace unstarve::feed {
namespace {

Result<FileDescriptor> open_file(io::Files& files, const std::string& path, int flags) {
  Result<io::OpenFile> opened = io::open_regular(files, path, flags);
  if (opened) return std::move(opened->file);
  if (opened.error().os_errno == 0) return error_in(path, opened.error());
  return fail_again(opened.error(), "cannot open " + path);
}

}  // namespace

Status make_own_folder(io::Files& files, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail_errno(error.value(), fmt::format("cannot make the folder {}", path));
  const Result<io::FileState> state = files.state_at(path);
  if (!state) return fail_again(state.error(), "cannot stat " + path);
  if (state->owner == ::geteuid()) return {};
  return fail(ErrorCode::kNoPermission, "{} belongs to another user: name another folder", path);
}

tl::unexpected<Error> error_in(const std::string& name, Error error) {
  error.message = fmt::format("{}: {}", name, error.message);
  return tl::unexpected<Error>(std::move(error));
}

Result<FileDescriptor> open_to_read(io::Files& files, const std::string& path) {
  return open_file(files, path, O_RDONLY);
}

Result<FileDescriptor> open_to_write(io::Files& files, const std::string& path) {
  return open_file(files, path, O_RDWR | O_CREAT);
}

}  // namespace unstarve::feed
