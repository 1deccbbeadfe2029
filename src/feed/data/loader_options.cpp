#include "feed/data/loader_options.h"

namespace unstarve::feed {
namespace {

template <class Number>
Status check_range(const char* field, Number value, Number low, Number high) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::kInvalidArgument, "{} is {}, must be from {} to {}", field, value, low,
              high);
}

constexpr std::int64_t kMaxSlotBytes = std::int64_t{1} << 34;

Status check_numbers(const LoaderOptions& options) {
  if (Status status = check_range("batch_size", options.batch_size, 1, 1 << 16); !status) {
    return status;
  }
  if (Status status = check_range("size", options.size, 1, 8192); !status) return status;
  if (Status status = check_range("threads", options.threads, 0, 1024); !status) return status;
  if (Status status = check_range("prefetch", options.prefetch_batches, 1, 1024); !status) {
    return status;
  }
  return check_range("flip_probability", options.flip_probability, 0.0, 1.0);
}

Status check_crop(const LoaderOptions& options) {
  if (options.task == SampleTask::kEvalCrop) {
    return check_range("resize_short", options.resize_short, options.size, 65500);
  }
  if (!(options.scale_min > 0 && options.scale_min <= options.scale_max &&
        options.scale_max <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "scale is ({}, {}), must be 0 < low <= high <= 1",
                options.scale_min, options.scale_max);
  }
  if (!(options.ratio_min > 0 && options.ratio_min <= options.ratio_max &&
        options.ratio_max <= 1e6)) {
    return fail(ErrorCode::kInvalidArgument, "ratio is ({}, {}), must be 0 < low <= high",
                options.ratio_min, options.ratio_max);
  }
  return {};
}

}  // namespace

Status validate(const LoaderOptions& options) {
  if (Status status = check_numbers(options); !status) return status;
  if (Status status = check_crop(options); !status) return status;
  const std::int64_t slot_bytes =
      std::int64_t{3} * options.batch_size * options.size * options.size;
  if (slot_bytes > kMaxSlotBytes) {
    return fail(ErrorCode::kInvalidArgument,
                "one batch of {} images of {}x{} takes {} bytes: lower batch_size or size",
                options.batch_size, options.size, options.size, slot_bytes);
  }
  return {};
}

}  // namespace unstarve::feed
