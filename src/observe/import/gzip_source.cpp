#include "observe/import/gzip_source.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace unstarve::observe {

namespace {

constexpr std::size_t kInputBytes = 64 * 1024;
constexpr int kGzipWindowBits = 15 + 16;  // zlib.h: 16 added to the window size means gzip only

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(kInputBytes) {}
  ~GzipSource() override {
    if (started_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Status start() {
    if (inflateInit2(&stream_, kGzipWindowBits) != Z_OK) {
      return fail(ErrorCode::kOutOfMemory, "no memory to decompress {}", name_);
    }
    started_ = true;
    return {};
  }

  Result<std::size_t> read(std::span<char> target) override {
    const std::size_t room = std::min<std::size_t>(target.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(target.data());
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && room > 0) {
      if (const Status filled = fill(); !filled) return forward_error(filled);
      if (between_members_) {
        const Result<bool> more = next_member();
        if (!more) return forward_error(more);
        if (!*more) return std::size_t{0};
        continue;
      }
      if (stream_.avail_in == 0) {
        return fail(ErrorCode::kCorruptData,
                    "{} is cut off: the gzip data ends at byte {} of the compressed file", name_,
                    position());
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code == Z_MEM_ERROR) {
        return fail(ErrorCode::kOutOfMemory, "no memory to decompress {}", name_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return fail(ErrorCode::kCorruptData,
                    "{} is damaged: {} near byte {} of the compressed file", name_,
                    stream_.msg != nullptr ? stream_.msg : "bad gzip data", position());
      }
    }
    return room - stream_.avail_out;
  }
  std::uint64_t done_bytes() const override { return compressed_->done_bytes(); }
  std::uint64_t total_bytes() const override { return compressed_->total_bytes(); }
  const char* position_word() const override { return "decompressed byte"; }

 private:
  std::uint64_t position() const { return compressed_->done_bytes() - stream_.avail_in; }

  /// Makes sure that there is input, unless the file is at its end.
  Status fill() {
    if (stream_.avail_in > 0) return {};
    const Result<std::size_t> got = compressed_->read(input_);
    if (!got) return forward_error(got);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(*got);
    return {};
  }

  /// After a member: skips zero padding and starts the next; false at the end of the file.
  Result<bool> next_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) {
      if (const Status filled = fill(); !filled) return forward_error(filled);
      return stream_.avail_in > 0;
    }
    if (inflateReset(&stream_) != Z_OK) {
      return fail(ErrorCode::kOutOfMemory, "no memory to decompress {}", name_);
    }
    between_members_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> compressed_;
  std::string name_;
  std::vector<char> input_;
  z_stream stream_ = {};
  bool started_ = false;
  bool between_members_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_gzip_source(std::unique_ptr<ByteSource> compressed,
                                                     std::string name) {
  auto source = std::make_unique<GzipSource>(std::move(compressed), std::move(name));
  if (const Status started = source->start(); !started) return forward_error(started);
  return source;
}

}  // namespace unstarve::observe
