#include "feed/pipeline/sample_loader.h"

#include <utility>
#include <vector>

#include "feed/transform/random.h"

namespace unstarve::feed {

/// A source of one sample, which is another file each time.
class SampleLoader::NamedFile final : public SampleSource {
 public:
  NamedFile(std::shared_ptr<FileReader> files, std::int64_t max_file_bytes)
      : files_(std::move(files)), max_file_bytes_(max_file_bytes) {}

  void name(const std::string& path) { path_ = path; }

  // The index is that of the draws; whatever it is, the sample is the file.
  void write_path(std::uint64_t /*index*/, std::string& path) const { path = path_; }
  std::uint64_t size() const override { return 1; }
  std::int64_t label(std::uint64_t /*index*/) const override { return 0; }
  const std::vector<std::string>& classes() const override { return no_classes_; }
  std::string locate(std::uint64_t /*index*/) const override { return path_; }
  std::uint64_t fingerprint() const override { return 0; }
  Result<std::unique_ptr<SampleReader>> open_reader() override {
    return std::unique_ptr<SampleReader>(
        std::make_unique<ListedFilesReader<NamedFile>>(*this, *files_, max_file_bytes_));
  }

 private:
  const std::shared_ptr<FileReader> files_;  // shared with whoever gave it, for the fault tests
  const std::int64_t max_file_bytes_;
  const std::vector<std::string> no_classes_;
  std::string path_;
};

SampleLoader::SampleLoader(const LoaderOptions& options, std::shared_ptr<FileReader> files,
                           std::shared_ptr<Clock> clock)
    : options_(options),
      clock_(std::move(clock)),
      file_(std::make_unique<NamedFile>(std::move(files), options.max_file_bytes)),
      image_bytes_(feed::image_bytes(options.transform)) {}

SampleLoader::~SampleLoader() = default;

Result<std::unique_ptr<SampleLoader>> SampleLoader::open(const LoaderOptions& options,
                                                         std::shared_ptr<FileReader> files,
                                                         std::shared_ptr<Clock> clock) {
  if (Status status = validate(options); !status) return forward_error(status);
  // The constructor is private.
  std::unique_ptr<SampleLoader> loader(
      new SampleLoader(options, std::move(files), std::move(clock)));
  Result<SampleWorker> worker =
      SampleWorker::create({loader->options_, *loader->file_, *loader->clock_});
  if (!worker) return forward_error(worker);
  loader->worker_ = std::make_unique<SampleWorker>(std::move(*worker));
  return loader;
}

Status SampleLoader::load(const Sample& sample, std::span<std::uint8_t> out) {
  if (out.size() != image_bytes_) {
    return fail(ErrorCode::kInvalidArgument, "the image takes {} bytes, not {}", image_bytes_,
                out.size());
  }
  file_->name(sample.path);
  const std::uint32_t attempt = std::uint32_t{sample.repeat} << kRepeatShift;
  SampleCost cost;
  return worker_->load({options_.seed, sample.epoch, sample.index, attempt}, out.data(), cost);
}

}  // namespace unstarve::feed
