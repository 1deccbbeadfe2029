#include "observe/import/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/unique_handle.h"
#include "observe/import/gzip_source.h"

namespace unstarve::observe {

namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(FileDescriptor file, std::string path, std::uint64_t total)
      : file_(std::move(file)), path_(std::move(path)), total_(total) {}

  Result<std::size_t> read(std::span<char> target) override {
    for (;;) {
      const ssize_t got = ::read(file_.get(), target.data(), target.size());
      if (got >= 0) {
        done_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return fail_errno(errno, fmt::format("cannot read {} at byte {}", path_, done_));
      }
    }
  }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t total_bytes() const override { return total_; }

 private:
  FileDescriptor file_;
  std::string path_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> target) override {
    const std::size_t count = std::min(target.size(), bytes_.size() - done_);
    if (count > 0) std::memcpy(target.data(), bytes_.data() + done_, count);
    done_ += count;
    return count;
  }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t total_bytes() const override { return bytes_.size(); }

 private:
  std::span<const char> bytes_;
  std::size_t done_ = 0;
};

/// Wraps `source` by what its first bytes say, given here because they cannot be read twice.
Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> source,
                                                 std::string_view head, const std::string& name) {
  if (head.empty()) return fail(ErrorCode::kCorruptData, "{} is empty; it holds no trace", name);
  if (head.starts_with("\x1f\x8b")) return make_gzip_source(std::move(source), name);
  if (head.starts_with("\x28\xb5\x2f\xfd") || head.starts_with("PK\x03\x04")) {
    return fail(ErrorCode::kNotSupported,
                "{} is compressed with zstd or zip; decompress it, or compress it with gzip", name);
  }
  return source;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path) {
  // O_NONBLOCK so that opening a pipe without a writer returns and can be refused below.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(errno, fmt::format("cannot open {}", path));
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) {
    return fail_errno(errno, fmt::format("cannot look at {}", path));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{} is a directory; name the trace file in it", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{} is not a regular file; save the trace first",
                path);
  }
  char head[4] = {};
  const ssize_t got = ::pread(file.get(), head, sizeof head, 0);
  if (got < 0) return fail_errno(errno, fmt::format("cannot read {}", path));
  auto source =
      std::make_unique<FileSource>(std::move(file), path, static_cast<std::uint64_t>(info.st_size));
  return decompressed(std::move(source), {head, static_cast<std::size_t>(got)}, path);
}

Result<std::unique_ptr<ByteSource>> make_memory_source(std::span<const char> bytes,
                                                       const std::string& name) {
  const std::string_view head(bytes.data(), std::min<std::size_t>(bytes.size(), 4));
  return decompressed(std::make_unique<MemorySource>(bytes), head, name);
}

}  // namespace unstarve::observe
