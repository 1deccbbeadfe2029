#pragma once

#include <optional>
#include <string_view>

#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// Work that data sets of some field do for each sample, and that people of that field learn to do
/// otherwise. Each has a signal (`Signals::fetch_*_ratio`) and a remedy.
enum class FetchWork {
  kTokenizing,  // of text, by a tokenizer's library
  kTableRows,   // one taken out of a table: pandas, polars, pyarrow
  kSound,       // features of it: spectrograms, filters, resampling
  kArrayFiles,  // read in chunks: HDF5, zarr, NetCDF
  kOpening,     // a file that holds many samples
  kConnecting,  // to a server or a data base
  kQueries,     // of a data base
  kParsing,     // of text: JSON, CSV, XML, patterns
};

/// What a fetch's stack is at, told by the library's function that the job's line calls, or by what
/// the line writes where that is compiled and has no frame. Nothing where it is none of these.
std::optional<FetchWork> fetch_work(const trace::Stack& stack);

/// "tokenizing", to stand for a line of the job.
std::string_view words_of(FetchWork work);

}  // namespace unstarve::diagnose
