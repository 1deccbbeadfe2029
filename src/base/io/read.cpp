#include "base/io/read.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace unstarve::io {
namespace {

// Linux moves at most 2 GiB in one call; a round number below that.
constexpr std::size_t kBytesPerCall = std::size_t{1} << 30;

}  // namespace

Result<OpenFile> open_regular(Files& files, const std::string& path, int flags) {
  Result<FileDescriptor> file = files.open(path, flags | O_NONBLOCK);
  if (!file) return forward_error(file);
  const Result<FileState> state = files.state(file->get());
  if (!state) return forward_error(state);
  if (!state->is_regular) return fail(ErrorCode::kInvalidArgument, "not a regular file");
  return OpenFile{std::move(*file), *state};
}

Result<std::uint64_t> size_of(Files& files, int file) {
  const Result<FileState> state = files.state(file);
  if (!state) return forward_error(state);
  return state->size;
}

Result<std::size_t> read_available(Files& files, int file, std::uint64_t offset,
                                   std::span<std::byte> target) {
  std::size_t done = 0;
  while (done < target.size()) {
    const std::size_t piece = std::min(target.size() - done, kBytesPerCall);
    Result<std::size_t> got = files.read_at(file, offset + done, target.subspan(done, piece));
    if (!got && got.error().os_errno == EINTR) continue;
    if (!got) return got;
    if (*got == 0) break;  // the end
    done += *got;
  }
  return done;
}

Status read_exactly(Files& files, int file, std::uint64_t offset, std::span<std::byte> target) {
  const Result<std::size_t> got = read_available(files, file, offset, target);
  if (!got) return forward_error(got);
  if (*got == target.size()) return {};
  return fail(ErrorCode::kCorruptData, "the file ends at byte {}, where more must follow",
              offset + *got);
}

Result<std::string> read_text(Files& files, const std::string& path, std::size_t bytes_max) {
  const Result<FileDescriptor> file = files.open(path, O_RDONLY);
  if (!file) return fail_again(file.error(), "cannot open " + path);
  std::string text;
  std::array<std::byte, 4096> piece;
  while (true) {
    const Result<std::size_t> got = files.read_at(file->get(), text.size(), piece);
    if (!got && got.error().os_errno == EINTR) continue;
    if (!got) return fail_again(got.error(), "cannot read " + path);
    if (*got == 0) return text;
    text.append(reinterpret_cast<const char*>(piece.data()), *got);
    if (text.size() > bytes_max) {
      return fail(ErrorCode::kCorruptData, "{} is longer than {} bytes", path, bytes_max);
    }
  }
}

}  // namespace unstarve::io
