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

struct IntBound {
  const char* field;
  int value;
  int low;
  int high;
};

Status check_numbers(const LoaderOptions& options) {
  const IntBound bounds[] = {
      {"batch_size", options.batch_size, 1, 1 << 16},
      {"threads", options.threads, 0, 1024},
      {"max_threads", options.max_threads, 0, 1024},
      {"prefetch", options.prefetch_batches, 0, 1024},
      {"world_size", options.world_size, 1, 1 << 20},
      {"rank", options.rank, 0, options.world_size - 1},
      {"read_retries", options.read_retries, 0, 16},
  };
  for (const IntBound& bound : bounds) {
    Status status = check_range(bound.field, bound.value, bound.low, bound.high);
    if (!status) return status;
  }
  constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;
  constexpr std::int64_t kMostCache = std::int64_t{1} << 60;
  Status memory = check_range("memory_bytes", options.memory_bytes, std::int64_t{1}, kMostMemory);
  if (!memory) return memory;
  return check_range("cache_bytes", options.cache_bytes, std::int64_t{0}, kMostCache);
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
