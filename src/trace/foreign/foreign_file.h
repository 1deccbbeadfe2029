#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace unstarve::trace {

/// A kind of file that people give instead of a recording, or a recording in another form.
enum class ForeignFile : std::uint8_t {
  kUtf16,            // text that is no log of nvidia-smi
  kLogWithoutNames,  // of nvidia-smi, recorded with noheader
  kOtherTable,       // columns of other names
  kSmiTable,         // what `nvidia-smi` shows once
  kSmiQuery,         // what `nvidia-smi -q` or `-x` shows once
  kSmiError,         // what nvidia-smi says in place of samples
  kHtml,
  kLfsPointer,     // what git checks out without git-lfs
  kNsysReport,     // of Nsight Systems, which only nsys reads
  kComputeReport,  // of Nsight Compute
  kTensorboard,    // events of TensorBoard
  kXplane,         // of the profilers of JAX and TensorFlow
  kTar,
  kZip,
  kNumpyArchive,  // .npz
  kNumpy,         // .npy
  kCheckpoint,    // of PyTorch, or a pickle
  kCompressed,    // otherwise than by gzip
  kData,          // HDF5, Parquet
  kPicture,
  kProgram,
  kText,
  kBinary,
};

/// So many of a file's first bytes tell its kind.
inline constexpr std::size_t kTellingBytes = 4096;

/// What a file is whose content, decompressed where gzip compressed it, begins with `start`. None:
/// it is empty, or in the form of a recording (JSON, SQLite, gzip), so that whoever reads it knows
/// better what is wrong.
std::optional<ForeignFile> recognise(std::string_view path, std::string_view start);

}  // namespace unstarve::trace
