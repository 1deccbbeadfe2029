#include "observe/import/byte_source.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/io/read.h"
#include "base/unique_handle.h"
#include "observe/import/gzip_source.h"

namespace unstarve::observe {

namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(FileDescriptor file, std::string path, std::uint64_t total)
      : file_(std::move(file)), path_(std::move(path)), total_(total) {}

  Result<std::size_t> read(std::span<char> target) override {
    const Result<std::size_t> got =
        io::read_available(files_, file_.get(), done_, std::as_writable_bytes(target));
    if (!got)
      return fail_again(got.error(), fmt::format("cannot read {} at byte {}", path_, done_));
    done_ += *got;
    return got;
  }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t total_bytes() const override { return total_; }

 private:
  io::Files files_;
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
  io::Files files;
  Result<FileDescriptor> file = files.open(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail_again(file.error(), fmt::format("cannot open {}", path));
  const Result<io::FileState> state = files.state(file->get());
  if (!state) return fail_again(state.error(), fmt::format("cannot look at {}", path));
  if (state->is_folder) {
    return fail(ErrorCode::kInvalidArgument, "{} is a directory; name the trace file in it", path);
  }
  if (!state->is_regular) {
    return fail(ErrorCode::kInvalidArgument, "{} is not a regular file; save the trace first",
                path);
  }
  std::array<char, 4> head = {};
  const Result<std::size_t> got =
      io::read_available(files, file->get(), 0, std::as_writable_bytes(std::span(head)));
  if (!got) return fail_again(got.error(), fmt::format("cannot read {}", path));
  auto source = std::make_unique<FileSource>(std::move(*file), path, state->size);
  return decompressed(std::move(source), {head.data(), *got}, path);
}

Result<std::unique_ptr<ByteSource>> make_memory_source(std::span<const char> bytes,
                                                       const std::string& name) {
  const std::string_view head(bytes.data(), std::min<std::size_t>(bytes.size(), 4));
  return decompressed(std::make_unique<MemorySource>(bytes), head, name);
}

}  // namespace unstarve::observe
