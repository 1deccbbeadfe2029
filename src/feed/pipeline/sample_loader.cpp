#include "feed/pipeline/sample_loader.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "base/io/files.h"
#include "feed/pipeline/loader_cache.h"
#include "feed/pipeline/loading/sample_stages.h"
#include "feed/source/read_file.h"
#include "feed/transform/random.h"

namespace unstarve::feed {
namespace {

/// A source of one sample, which is another file each time, or bytes that somebody has read.
class NamedFile final : public SampleSource {
 public:
  NamedFile(std::shared_ptr<io::Files> files, std::int64_t max_file_bytes)
      : files_(std::move(files)), max_file_bytes_(max_file_bytes) {}

  /// What is read next.
  void name(const SampleLoader::Sample& sample) {
    path_ = sample.path;
    bytes_ = sample.bytes;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

  // The index is that of the draws; whatever it is, the sample is the file.
  void write_path(std::uint64_t /*index*/, std::string& path) const { path = path_; }
  std::uint64_t size() const override { return 1; }
  std::int64_t label(std::uint64_t /*index*/) const override { return 0; }
  const std::vector<std::string>& classes() const override { return no_classes_; }
  std::string locate(std::uint64_t /*index*/) const override { return path_; }
  std::uint64_t fingerprint() const override { return 0; }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

 private:
  const std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
  const std::int64_t max_file_bytes_;
  const std::vector<std::string> no_classes_;
  std::string path_;
  std::span<const std::byte> bytes_;  // none: those of the file at path_
};

class NamedFileReader final : public SampleReader {
 public:
  NamedFileReader(const NamedFile& file, io::Files& files, std::int64_t max_file_bytes)
      : file_(file), from_disk_(file, files, max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    if (file_.bytes().empty()) return from_disk_.read(index);
    return EncodedSample{SampleForm::kFile, file_.bytes()};
  }
  ReadHint hint(std::uint64_t index) override { return from_disk_.hint(index); }

 private:
  const NamedFile& file_;
  ListedFilesReader<NamedFile> from_disk_;
};

Result<std::unique_ptr<SampleReader>> NamedFile::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<NamedFileReader>(*this, *files_, max_file_bytes_));
}

}  // namespace

struct SampleLoader::Impl {
  Impl(const LoaderOptions& given, const LoaderParts& real) : options(given), parts(real) {}

  const LoaderOptions options;
  const LoaderParts parts;
  const pid_t owner = ::getpid();
  std::shared_ptr<NamedFile> file;       // the source itself, or none
  std::shared_ptr<SampleSource> source;  // shared with whoever gave it
  std::unique_ptr<SampleStages> stages;  // last: it uses the above

  Status open(std::shared_ptr<SampleSource> list);
  Status choose(const Sample& sample);
};

Status SampleLoader::Impl::open(std::shared_ptr<SampleSource> list) {
  if (list != nullptr) {
    Result<SourceWithCache> found = with_cache(std::move(list), options, parts);
    if (!found) return forward_error(found);
    source = std::move(found->source);
  } else {
    file = std::make_shared<NamedFile>(parts.files, options.max_file_bytes);
    source = file;
  }
  Result<SampleStages> created = SampleStages::create({options, *source, *parts.clock});
  if (!created) return forward_error(created);
  stages = std::make_unique<SampleStages>(std::move(*created));
  return {};
}

Status SampleLoader::Impl::choose(const Sample& sample) {
  if (file != nullptr) {
    file->name(sample);
    return {};
  }
  if (sample.index < source->size() && source->locate(sample.index) == sample.path) return {};
  return fail(ErrorCode::kInvalidArgument, "{} is not sample {} of the list", sample.path,
              sample.index);
}

SampleLoader::SampleLoader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SampleLoader::~SampleLoader() {
  // A forked child has no thread of the cache to wait for.
  if (impl_->owner != ::getpid()) (void)impl_.release();
}

Result<std::unique_ptr<SampleLoader>> SampleLoader::open(const LoaderOptions& options,
                                                         std::shared_ptr<SampleSource> list,
                                                         const LoaderParts& parts) {
  if (Status status = validate(options); !status) return forward_error(status);
  auto impl = std::make_unique<Impl>(options, parts);
  if (Status status = impl->open(std::move(list)); !status) return forward_error(status);
  // The constructor is private.
  return std::unique_ptr<SampleLoader>(new SampleLoader(std::move(impl)));
}

std::size_t SampleLoader::image_bytes() const {
  return feed::image_bytes(impl_->options.transform);
}

Status SampleLoader::load(const Sample& sample, std::span<std::uint8_t> out) {
  if (out.size() != image_bytes()) {
    return fail(ErrorCode::kInvalidArgument, "the image takes {} bytes, not {}", image_bytes(),
                out.size());
  }
  if (Status status = impl_->choose(sample); !status) return status;
  const std::uint32_t attempt = std::uint32_t{sample.repeat} << kRepeatShift;
  SampleCost cost;
  return impl_->stages->load({impl_->options.seed, sample.epoch, sample.index, attempt}, out.data(),
                             cost);
}

}  // namespace unstarve::feed
