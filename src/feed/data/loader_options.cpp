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
  if (Status status = check_range("threads", options.threads, 0, 1024); !status) return status;
  return check_range("prefetch", options.prefetch_batches, 1, 1024);
}

}  // namespace

Status validate(const LoaderOptions& options) {
  if (Status status = check_numbers(options); !status) return status;
  if (Status status = validate(options.transform); !status) return status;
  const auto slot_bytes =
      static_cast<std::int64_t>(image_bytes(options.transform)) * options.batch_size;
  if (slot_bytes > kMaxSlotBytes) {
    const ImageSize size = options.transform.geometry.size;
    return fail(ErrorCode::kInvalidArgument,
                "one batch of {} images of {}x{} takes {} bytes: lower batch_size or size",
                options.batch_size, size.width, size.height, slot_bytes);
  }
  return {};
}

}  // namespace unstarve::feed
