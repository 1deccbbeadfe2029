#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "feed/data/transform_plan.h"

namespace unstarve::feed {

/// What happens when a file cannot be read or decoded.
enum class OnError {
  kRaise,    // the batch that it belongs to is an Error that names the file
  kSkip,     // its batch has one image less
  kReplace,  // another sample, chosen by (seed, epoch, index), takes its place
  kReport,   // its row is left as it is; Loader::take_failed() tells the consumer to fill it
};

/// What happens when the samples of an epoch do not divide by the number of ranks. Either way all
/// ranks get the same number of batches.
enum class RankRemainder {
  kPad,   // the first samples of the epoch's order come once more at its end
  kDrop,  // the last samples of the epoch's order are left out
};

/// Everything that decides what a loader does. The first two blocks decide which bytes come out;
/// the last decides only how fast.
struct LoaderOptions {
  std::string root;  // a folder with one sub-folder per class, or with images and no sub-folders
  bool skip_other_formats = false;  // leave out PPM, ... files instead of refusing the folder
  bool keep_index = true;           // keep the list of a large folder or archive, for the next run
  std::string index_folder;  // where; empty: $XDG_CACHE_HOME/unstarve/index or under ~/.cache

  TransformPlan transform = training_crop(224);
  std::uint64_t seed = 0;  // with the epoch and a sample's index: every random draw
  bool shuffle = true;     // a new order in each epoch
  int batch_size = 64;     // images
  bool drop_last = false;  // leave out the last batch if it is not full
  int rank = 0;            // takes every world_size-th sample of the order
  int world_size = 1;
  RankRemainder rank_remainder = RankRemainder::kPad;
  OnError on_error = OnError::kRaise;
  bool accept_damaged = false;            // take what libjpeg makes of broken data (PIL does)
  std::int64_t max_pixels = 178'956'970;  // per image; larger ones are an error (PIL's bound)
  std::int64_t max_file_bytes = std::int64_t{1} << 30;  // per file

  int threads = 0;           // 0: a controller keeps as many at work as the consumer needs
  int max_threads = 0;       // bounds the controller; 0: as many as the process may use CPUs
  int prefetch_batches = 0;  // batches that may be under way or ready before the consumer asks;
                             // 0: a controller decides
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // bounds the batches that lie ready
  bool prefetch_next_epoch = false;  // go on into the next epoch before begin_epoch() asks for it
  std::string cache_dir;  // copies of images that were read are kept below it; empty: none are
  std::int64_t cache_bytes = std::int64_t{64} << 30;  // that the copies of a data set may take
  bool read_ahead = true;  // when reads are slow, announce samples to the system before their read
  int read_retries = 4;    // times that a read is tried again when the device fails for the moment:
                           // in 1.4 s; 16, the most, in 13.4 s
};

/// kInvalidArgument with the field's name when a value makes no sense.
Status validate(const LoaderOptions& options);

}  // namespace unstarve::feed
