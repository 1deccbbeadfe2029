#include "base/io/write.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace unstarve::io {
namespace {

namespace fs = std::filesystem;

// What is written comes in pieces that end at multiples of this. For longer ones the page cache
// takes memory in larger units, which a virtual machine that gives free memory back to its host has
// to fetch first: three times the CPU time (115 us for 130 KB in place of 38).
constexpr std::size_t kBytesPerWrite = std::size_t{64} << 10;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Where the file itself lies, behind links.
fs::path behind_links(const std::string& path) {
  std::error_code unknown;
  fs::path whole = fs::weakly_canonical(path, unknown);
  return unknown || whole.empty() ? fs::path(path) : whole;
}

struct Temporary {
  std::string path;
  FileDescriptor file;
};

/// A new file beside `file`. Its name is short, so that it can be made wherever `file` can.
Result<Temporary> make_temporary(Files& files, const fs::path& file, unsigned mode) {
  // Other threads, other containers and what a kill left may have the first ones.
  constexpr int kNamesTried = 1000;
  for (int number = 0;; ++number) {
    const std::string name = fmt::format(".unstarve-{}-{}.tmp", ::getpid(), number);
    std::string path = (file.parent_path() / name).string();
    Result<FileDescriptor> made = files.open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (made) return Temporary{std::move(path), std::move(*made)};
    if (made.error().os_errno != EEXIST || number == kNamesTried) return forward_error(made);
  }
}

/// Brings to the disk what was written, where the file system can do that.
Status sync_data(Files& files, int file) {
  const Status synced = files.sync(file);
  if (synced) return {};
  // Some network file systems cannot do this for everything, and need not.
  const int reason = synced.error().os_errno;
  return reason == EINVAL || reason == ENOTSUP ? Status() : synced;
}

Status replace(Files& files, const fs::path& file, std::span<const std::byte> bytes,
               unsigned mode) {
  Result<Temporary> made = make_temporary(files, file, mode);
  if (!made) return forward_error(made);
  Status status = write_all_at(files, made->file.get(), 0, bytes);
  // Without this a file system may write down the new name first: after a power cut neither is
  // there. Where nothing is replaced there is nothing to lose.
  if (status && files.exists(file.string())) status = sync_data(files, made->file.get());
  if (status) status = files.close(std::move(made->file));
  if (status) status = files.rename(made->path, file.string());
  if (!status) (void)files.remove(made->path);
  return status;
}

Status try_replace(Files& files, const fs::path& file) {
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) return fail_errno(EISDIR, "cannot replace");
  Result<Temporary> made = make_temporary(files, file, 0666);
  if (!made) return forward_error(made);
  const Status closed = files.close(std::move(made->file));
  (void)files.remove(made->path);
  return closed;
}

}  // namespace

Status write_all_at(Files& files, int file, std::uint64_t offset,
                    std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kBytesPerWrite - offset % kBytesPerWrite);
    const Result<std::size_t> put = files.write_at(file, offset, bytes.first(piece));
    if (!put && put.error().os_errno == EINTR) continue;
    if (!put) return forward_error(put);
    bytes = bytes.subspan(*put);
    offset += *put;
  }
  return {};
}

Status write_all(Files& files, int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const Result<std::size_t> put = files.write(file, bytes);
    if (!put && put.error().os_errno == EINTR) continue;
    if (!put) return forward_error(put);
    bytes = bytes.subspan(*put);
  }
  return {};
}

Status write_all(int file, std::string_view text) {
  Files files;
  return write_all(files, file, bytes_of(text));
}

Status replace_file(Files& files, const std::string& path, std::span<const std::byte> bytes,
                    unsigned mode) {
  const Status status = replace(files, behind_links(path), bytes, mode);
  return status ? status : fail_again(status.error(), "cannot write " + path);
}

Status replace_file(const std::string& path, std::string_view text) {
  Files files;
  return replace_file(files, path, bytes_of(text));
}

Status sync_folder(Files& files, const std::string& path) {
  const Result<FileDescriptor> folder = files.open(path, O_RDONLY | O_DIRECTORY);
  if (!folder) return fail_again(folder.error(), "cannot open " + path);
  const Status synced = sync_data(files, folder->get());
  return synced ? synced : fail_again(synced.error(), "cannot bring to the disk " + path);
}

Status check_replaceable(Files& files, const std::string& path) {
  const Status status = try_replace(files, behind_links(path));
  return status ? status : fail_again(status.error(), "cannot write " + path);
}

Status check_replaceable(const std::string& path) {
  Files files;
  return check_replaceable(files, path);
}

}  // namespace unstarve::io
