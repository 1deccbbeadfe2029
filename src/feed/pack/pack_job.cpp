#include "feed/pack/pack_job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/io/files.h"
#include "feed/pack/pack_window.h"
#include "feed/pack/usable_cpus.h"
#include "feed/pack/verify_shards.h"
#include "feed/shard/shard_source.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

// Changes whenever the same file would be packed into other bytes.
constexpr std::uint64_t kPackVersion = 2;
constexpr std::uint64_t kTriedMax = 24;
constexpr double kTryingSecondsMax = 2.0;
// Room for a few samples per thread beside the one that is waited for.
constexpr std::size_t kSlotsPerThread = 4;
constexpr std::uint64_t kBytesUnderWay = std::uint64_t{512} << 20;
constexpr std::size_t kNamesKept = 100;

std::uint64_t set_id_of(const PackOptions& options, const PackInput& input) {
  const std::array<std::uint64_t, 4> parts = {kPackVersion, input.fingerprint(),
                                              options.keep_original_bytes ? 1U : 0U,
                                              options.shard_bytes};
  return checksum_of(std::as_bytes(std::span(parts)));
}

Status check(const PackOptions& options) {
  std::error_code ignored;
  const fs::path source = fs::weakly_canonical(options.source, ignored);
  const fs::path target = fs::weakly_canonical(options.target, ignored);
  const auto inside = std::mismatch(source.begin(), source.end(), target.begin(), target.end());
  if (inside.first == source.end()) {
    return fail(ErrorCode::kInvalidArgument,
                "{} lies inside of {}, and would be packed itself: name a folder elsewhere",
                options.target, options.source);
  }
  return {};
}

std::uint64_t stored_bytes(const ShardSample& sample) {
  return align_up(sizeof(RecordHeader) + sample.name.size()) + align_up(sample.payload.size()) +
         align_up(sample.original.size());
}

/// The same error, with what to do when the disk is full.
Status with_advice(Error error) {
  if (error.os_errno == ENOSPC || error.os_errno == EDQUOT) {
    error.message += "; free some space and run the same command again: it goes on from here";
  }
  return tl::unexpected<Error>(std::move(error));
}

void count_kept(const PackedSample& packed, PackSummary& summary) {
  if (packed.kept_as_bytes.empty()) return;
  PackSummary::Reason& reason = summary.kept_as_bytes[packed.kept_as_bytes];
  if (reason.count++ == 0) reason.example = packed.sample.name;
  if (packed.cannot_be_decoded && summary.cannot_be_decoded.size() < kNamesKept) {
    summary.cannot_be_decoded.emplace_back(packed.sample.name);
  }
}

Result<std::jthread> start_thread(std::function<void(std::stop_token)> body) {
  try {
    return std::jthread(std::move(body));
  } catch (const std::system_error& error) {
    return fail_errno(error.code().value(), "cannot start a packing thread");
  }
}

}  // namespace

PackParts PackParts::real() {
  return {io::plain_files(), io::plain_files(), std::make_shared<SteadyClock>()};
}

PackJob::PackJob(PackOptions options, PackParts parts, std::unique_ptr<PackInput> input,
                 ShardSetWriter writer)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      input_(std::move(input)),
      writer_(std::move(writer)) {}

Result<PackJob> PackJob::open(const PackOptions& options, const PackParts& parts) {
  if (Status status = check(options); !status) return forward_error(status);
  const Result<int> threads = thread_count(options.threads);
  if (!threads) return forward_error(threads);
  auto input = open_folder_input(options.source, parts.files);
  if (!input) return forward_error(input);
  PackOptions settled = options;
  settled.threads = *threads;
  ShardSetOptions set;
  set.folder = options.target;
  set.set_id = set_id_of(options, **input);
  set.shard_bytes = options.shard_bytes;
  set.classes = (*input)->classes();
  Result<ShardSetWriter> writer = ShardSetWriter::open(parts.storage, std::move(set));
  if (!writer) return forward_error(writer);
  return PackJob(std::move(settled), parts, std::move(*input), std::move(*writer));
}

Result<PackEstimate> PackJob::estimate() {
  PackEstimate estimate;
  estimate.samples = input_->size();
  estimate.packed_before = writer_.samples();
  estimate.left_out = input_->left_out();
  estimate.threads = options_.threads;
  Result<SamplePacker> packer = SamplePacker::create(*input_, {options_.keep_original_bytes});
  if (!packer) return forward_error(packer);
  PackedSample packed;
  packer->pack(input_->size() / 2, packed);  // fills caches and grows buffers
  const std::uint64_t tries = std::min(kTriedMax, input_->size());
  const double begun_s = seconds();
  double spent_s = 0;
  while (estimate.tried < tries && spent_s < kTryingSecondsMax) {
    packer->pack(estimate.tried * input_->size() / tries, packed);
    if (packed.error) return tl::unexpected<Error>(*packed.error);
    ++estimate.tried;
    estimate.source_bytes += static_cast<double>(packed.sample.source_size);
    estimate.shard_bytes += static_cast<double>(stored_bytes(packed.sample));
    spent_s = seconds() - begun_s;
  }
  const auto tried = static_cast<double>(estimate.tried);
  const auto samples = static_cast<double>(estimate.samples);
  estimate.source_bytes *= samples / tried;
  estimate.shard_bytes *= samples / tried;
  estimate.images_per_s = options_.threads * tried / std::max(spent_s, 1e-9);
  estimate.seconds =
      static_cast<double>(estimate.samples - estimate.packed_before) / estimate.images_per_s;
  return estimate;
}

Result<PackSummary> PackJob::run(const OnProgress& on_progress) {
  const double begun_s = seconds();
  PackSummary summary;
  Status status = pack_missing(on_progress, summary);
  if (status) status = writer_.finish_shards();
  if (status) status = verify(on_progress);
  if (status) status = writer_.finish();
  if (status) status = summarize(summary);
  if (!status) return forward_error(with_advice(status.error()));
  summary.seconds = seconds() - begun_s;
  return summary;
}

Status PackJob::pack_missing(const OnProgress& on_progress, PackSummary& summary) {
  if (writer_.samples() == input_->size()) return {};
  const auto threads = static_cast<std::size_t>(options_.threads);
  PackWindow window(writer_.samples(), input_->size(), kSlotsPerThread * threads + 2,
                    kBytesUnderWay);
  // After the window: they are stopped and joined before it goes.
  std::vector<std::jthread> packing_threads;
  for (std::size_t i = 0; i < threads; ++i) {
    Result<SamplePacker> packer = SamplePacker::create(*input_, {options_.keep_original_bytes});
    if (!packer) return forward_error(packer);
    // std::function wants a copy; the packer is handed over through a pointer.
    auto shared = std::make_shared<SamplePacker>(std::move(*packer));
    Result<std::jthread> thread = start_thread([&window, shared](const std::stop_token& stop) {
      while (const std::optional<PackWindow::Claim> claim = window.claim(stop)) {
        shared->pack(claim->index, *claim->packed);
        window.finish(*claim);
      }
    });
    if (thread) {
      packing_threads.push_back(std::move(*thread));
    } else if (packing_threads.empty()) {
      return forward_error(thread);
    }
  }
  return append_all(window, on_progress, summary);
}

Status PackJob::append_all(PackWindow& window, const OnProgress& on_progress,
                           PackSummary& summary) {
  const double begun_s = seconds();
  while (const PackedSample* packed = window.next()) {
    if (packed->error) return tl::unexpected<Error>(*packed->error);
    if (Status status = writer_.append(packed->sample); !status) return status;
    count_kept(*packed, summary);
    window.release();
    ++summary.packed_now;
    const double elapsed_s = std::max(seconds() - begun_s, 1e-9);
    on_progress({PackPhase::kPacking, writer_.samples(), input_->size(),
                 static_cast<double>(summary.packed_now) / elapsed_s});
  }
  return {};
}

Status PackJob::verify(const OnProgress& on_progress) {
  const double begun_s = seconds();
  const auto on_sample = [&](std::uint64_t done) {
    const double elapsed_s = std::max(seconds() - begun_s, 1e-9);
    on_progress(
        {PackPhase::kVerifying, done, input_->size(), static_cast<double>(done) / elapsed_s});
  };
  return verify_shards({parts_.storage, options_.target, writer_.shards(), options_.threads},
                       *input_, on_sample);
}

Status PackJob::summarize(PackSummary& summary) {
  const auto source = ShardSource::open(options_.target, parts_.storage);
  if (!source) return forward_error(source);
  const TableHeader& header = (*source)->table().header();
  summary.samples = header.samples;
  summary.coefficients =
      header.samples_of_kind[static_cast<std::size_t>(PayloadKind::kCoefficients)];
  summary.source_bytes = header.source_size;
  summary.shards = header.shards;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(options_.target, error)) {
    std::error_code ignored;
    const std::uintmax_t size = file.file_size(ignored);
    if (!ignored) summary.shard_bytes += size;
  }
  return {};
}

}  // namespace unstarve::feed
