#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "diagnose/signals/signals.h"
#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// Work that data sets of some field do for each sample, and that people of that field learn to do
/// otherwise. Each has a signal (kFetchWorkShares) and a remedy.
enum class FetchWork {
  kTokenizing,  // of text, by a tokenizer's library
  kTableRows,   // one taken out of a table: pandas, polars, pyarrow
  kSound,       // features of it: spectrograms, filters, resampling
  kArrayFiles,  // read in chunks: HDF5, zarr, NetCDF
  kOpening,     // a file that holds many samples
  kConnecting,  // to a server or a data base
  kQueries,     // of a data base
  kParsing,     // of text: JSON, CSV, XML, patterns
  kVideo,       // frames of it: decoded, or sought
  kDecompressing,
  kResizing,  // an image
};

/// Where the looks at fetches that find them at a work stand, as a share of all.
struct FetchWorkShare {
  FetchWork work;
  Signal share;
};

constexpr std::array<FetchWorkShare, 11> kFetchWorkShares = {{
    {FetchWork::kTokenizing, &Signals::fetch_tokenizing_ratio},
    {FetchWork::kTableRows, &Signals::fetch_table_rows_ratio},
    {FetchWork::kSound, &Signals::fetch_sound_ratio},
    {FetchWork::kArrayFiles, &Signals::fetch_array_files_ratio},
    {FetchWork::kOpening, &Signals::fetch_opening_ratio},
    {FetchWork::kConnecting, &Signals::fetch_connecting_ratio},
    {FetchWork::kQueries, &Signals::fetch_queries_ratio},
    {FetchWork::kParsing, &Signals::fetch_parsing_ratio},
    {FetchWork::kVideo, &Signals::fetch_video_ratio},
    {FetchWork::kDecompressing, &Signals::fetch_decompressing_ratio},
    {FetchWork::kResizing, &Signals::fetch_resizing_ratio},
}};

/// What a fetch's stack is at, told by the library's function that the job's line calls, or by what
/// the line writes where that is compiled and has no frame. Nothing where it is none of these.
std::optional<FetchWork> fetch_work(const trace::Stack& stack);

/// Work of a fetch that worker processes of unstarve.DataLoader do in compiled code (decision
/// 0034): a data set opens a JPEG with Pillow, and gives it to transforms of torchvision, alone or
/// with masks and boxes, or cuts and resizes it itself; and whatever it does with a PNG, Pillow
/// loads it.
enum class OpenedImageWork { kNone, kDecoding, kLoading, kTransforming };

OpenedImageWork opened_image_work(const trace::Stack& stack);

/// The work at which most looks at fetches find them, if that is at least half of them.
std::optional<FetchWorkShare> main_fetch_work(const Signals& signals);

/// Whether fetches wait for threads that a library has for such work (a tokenizer's, OpenCV's).
bool fetches_wait_for_libraries(const Signals& signals);

/// Whether it makes data of others, that are the same each time: it can be done beforehand.
bool makes_data(FetchWork work);

/// "tokenizing", to stand for a line of the job.
std::string_view words_of(FetchWork work);

}  // namespace unstarve::diagnose
