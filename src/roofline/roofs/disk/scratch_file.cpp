#include "roofline/roofs/disk/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "base/io/write.h"
#include "base/units.h"

namespace unstarve::roofline {

namespace {

constexpr std::uint64_t kFreeShare = 10;
constexpr std::uint64_t kKeptShare = 20;
constexpr std::uint64_t kKeptBytes = 1ULL << 30;

/// Numbers of linux/magic.h, and of file systems that are not in it.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 14> kFileSystems = {{
    {0xEF53, "ext4"},
    {0x58465342, "xfs"},
    {0x9123683E, "btrfs"},
    {0x794C7630, "overlay"},
    {0x01021994, "tmpfs"},
    {0x858458F6, "ramfs"},
    {0x6969, "nfs"},
    {0x2FC12FC1, "zfs"},
    {0xFF534D42, "cifs"},
    {0xFE534D42, "smb2"},
    {0x65735546, "fuse"},
    {0x0BD00BD0, "lustre"},
    {0x00C36400, "ceph"},
    {0xF2F52010, "f2fs"},
}};

std::string file_system_of(int file) {
  struct statfs known {};
  if (::fstatfs(file, &known) != 0) return "unknown";
  const auto magic = static_cast<std::uint32_t>(known.f_type);
  for (const auto& [number, name] : kFileSystems) {
    if (number == magic) return std::string(name);
  }
  return fmt::format("0x{:x}", magic);
}

/// A file without a name in `folder`.
Result<FileDescriptor> open_unnamed(io::Files& files, const std::string& folder) {
  if (auto file = files.open(folder, O_RDWR | O_TMPFILE, 0600)) return file;
  // Not every file system makes files without a name: this one loses it at once.
  const std::string path = fmt::format("{}/.unstarve-roofline-{}.tmp", folder, ::getpid());
  auto file = files.open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!file) return fail_again(file.error(), fmt::format("cannot write in {}", folder));
  if (Status removed = files.remove(path); !removed) return forward_error(removed);
  return file;
}

/// Bytes that no file system can store in fewer, and no two blocks alike.
void fill_with_noise(std::vector<std::uint64_t>& block, std::mt19937_64& random) {
  for (std::uint64_t& word : block) word = random();
}

/// As much as the time allows. Returns the file's size.
Result<std::uint64_t> write_noise(io::Files& files, int file, std::uint64_t bytes,
                                  std::int64_t duration_ns, Session& session) {
  std::mt19937_64 random(2026);
  std::vector<std::uint64_t> block(kScratchBlockBytes / sizeof(std::uint64_t));
  fill_with_noise(block, random);
  const std::int64_t end_ns = session.clock().now_ns() + duration_ns;
  std::uint64_t written = 0;
  // What is written waits in memory first: it goes to the disk now and then, so that time counts.
  constexpr std::uint64_t kSyncedBytes = 16 * kScratchBlockBytes;
  while (written < bytes && (written == 0 || session.clock().now_ns() < end_ns)) {
    if (session.stopped()) return fail(ErrorCode::kCancelled, "stopped");
    for (std::size_t i = 0; i < block.size(); i += 512) block[i] = random();  // each page anew
    const Status wrote = io::write_all_at(files, file, written, std::as_bytes(std::span(block)));
    if (!wrote) return forward_error(wrote);
    written += kScratchBlockBytes;
    if (written % kSyncedBytes != 0) continue;
    if (Status synced = files.sync(file); !synced) return forward_error(synced);
  }
  if (Status synced = files.sync(file); !synced) return forward_error(synced);
  return written;
}

}  // namespace

std::uint64_t scratch_bytes(std::uint64_t most_bytes, std::uint64_t free_bytes,
                            std::uint64_t total_bytes) {
  const std::uint64_t kept = std::max(total_bytes / kKeptShare, kKeptBytes);
  if (free_bytes <= kept) return 0;
  const std::uint64_t bytes = std::min({most_bytes, free_bytes / kFreeShare, free_bytes - kept});
  return bytes / kScratchBlockBytes * kScratchBlockBytes;
}

Result<ScratchFile> make_scratch_file(const ScratchOptions& options, Session& session) {
  io::Files files;
  auto file = open_unnamed(files, options.folder);
  if (!file) return fail_again(file.error(), fmt::format("cannot write in {}", options.folder));
  ScratchFile scratch;
  scratch.file = std::move(*file);
  const int descriptor = scratch.file.get();
  scratch.file_system = file_system_of(descriptor);
  const auto space = files.space(descriptor);
  if (!space) return forward_error(space);
  const std::uint64_t bytes =
      scratch_bytes(std::max(options.most_bytes, kScratchBlockBytes), space->free, space->total);
  if (bytes == 0) {
    return fail(ErrorCode::kNotSupported,
                "only {} MiB are free on the disk of {}: a scratch file might fill it",
                space->free >> 20, options.folder);
  }
  const std::int64_t start_ns = session.clock().now_ns();
  const auto written = write_noise(files, descriptor, bytes, options.duration_ns, session);
  if (!written) {
    return fail_again(written.error(), fmt::format("cannot write in {}", options.folder));
  }
  scratch.bytes = *written;
  const std::int64_t taken_ns = session.clock().now_ns() - start_ns;
  scratch.written_bytes_per_s =
      static_cast<double>(scratch.bytes) * kNsPerS / static_cast<double>(taken_ns);
  auto direct = files.open(fmt::format("/proc/self/fd/{}", descriptor), O_RDONLY | O_DIRECT);
  if (direct) scratch.direct = std::move(*direct);
  return scratch;
}

bool is_in_memory(const std::string& file_system) {
  return file_system == "tmpfs" || file_system == "ramfs";
}

}  // namespace unstarve::roofline
