#include "feed/source/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "base/io/read.h"
#include "feed/data/read_hint.h"
#include "feed/data/room_in.h"

namespace unstarve::feed {
namespace {

Result<FileStamp> stamp_from(const Result<io::FileState>& state) {
  if (!state) return forward_error(state);
  return FileStamp{state->size, state->modified_ns, state->changed_ns};
}

}  // namespace

tl::unexpected<Error> failed_at(const std::string& path, Error error) {
  error.message = fmt::format("{}: {}", path, error.message);
  return tl::unexpected<Error>(std::move(error));
}

Result<std::span<const std::byte>> read_file(io::Files& files, const std::string& path,
                                             std::int64_t max_bytes,
                                             std::vector<std::byte>& buffer) {
  const Result<io::OpenFile> opened = io::open_regular(files, path, O_RDONLY);
  if (!opened) return forward_error(opened);
  const auto size = static_cast<std::size_t>(opened->state.size);
  if (opened->state.size > static_cast<std::uint64_t>(max_bytes)) {
    return fail(ErrorCode::kInvalidArgument, "the file has {} bytes, the limit is {}", size,
                max_bytes);
  }
  const std::span<std::byte> bytes = room_in(buffer, size);
  const Result<std::size_t> got = io::read_available(files, opened->file.get(), 0, bytes);
  if (!got) return forward_error(got);
  return std::span<const std::byte>(bytes.data(), *got);
}

ReadHint hint_file(io::Files& files, const std::string& path) {
  // A pipe that somebody left in the folder must not hang.
  const Result<FileDescriptor> file = files.open(path, O_RDONLY | O_NONBLOCK);
  // The file's size is not asked: advice that goes past its end is advice up to there.
  return file ? hint_range(files, file->get(), 0, kMaxHintedBytes) : ReadHint::kFetching;
}

Result<FileStamp> stamp_at(io::Files& files, const std::string& path) {
  return stamp_from(files.state_at(path));
}

Result<FileStamp> stamp_of(io::Files& files, int file) { return stamp_from(files.state(file)); }

}  // namespace unstarve::feed
