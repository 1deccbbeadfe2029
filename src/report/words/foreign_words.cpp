#include "report/words/foreign_words.h"

#include <fmt/format.h>

#include <string_view>

#include "base/shell_word.h"

namespace unstarve::report {

namespace {

using trace::ForeignFile;

/// What a file is, to stand behind its name and "is", and what to do; {} is its name in a command.
struct ForeignWords {
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view kToUtf8 =
    "write it in UTF-8, by `iconv -f UTF-16 -t UTF-8 {} > FILE` or in PowerShell by `Get-Content "
    "{} "
    "| Set-Content -Encoding utf8 FILE`";
constexpr std::string_view kLogAgain =
    "record with `nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used,"
    "memory.total,power.draw --format=csv -l 1 > FILE`";
constexpr std::string_view kUnpack = "unpack it, and name the trace in it";
constexpr std::string_view kRecordTrace =
    "watch the job with `unstarve run -- COMMAND`, or give what torch.profiler's "
    "export_chrome_trace wrote";

ForeignWords words_of_log(ForeignFile kind) {
  switch (kind) {
    case ForeignFile::kLogWithoutNames:
      return {"a log of nvidia-smi without the names of its columns",
              "put the line of names first, as --query-gpu had them, or record without noheader"};
    case ForeignFile::kOtherTable:
      return {"a table without a column that nvidia-smi has, such as utilization.gpu", kLogAgain};
    case ForeignFile::kSmiTable:
      return {"the table that nvidia-smi shows of one moment", kLogAgain};
    case ForeignFile::kSmiQuery: return {"what nvidia-smi says in full of one moment", kLogAgain};
    case ForeignFile::kSmiError:
      return {"an error of nvidia-smi, without a sample",
              "see what it says, have nvidia-smi run there, and record again"};
    default: return {};
  }
}

ForeignWords words_of(ForeignFile kind) {
  switch (kind) {
    case ForeignFile::kUtf16: return {"text in UTF-16", kToUtf8};
    case ForeignFile::kHtml:
      return {"a web page, perhaps of a login or an error",
              "download the file itself, and not the page that shows it"};
    case ForeignFile::kLfsPointer:
      return {"a pointer of Git LFS and not the file", "fetch the file with `git lfs pull`"};
    case ForeignFile::kNsysReport:
      return {"a report that only nsys reads",
              "`nsys export --type sqlite {}` writes a file that can be diagnosed"};
    case ForeignFile::kComputeReport:
      return {"a report of Nsight Compute, which is of single kernels",
              "record the job with `nsys profile --trace=cuda,nvtx`, and export it as SQLite"};
    case ForeignFile::kTensorboard:
      return {"a file of events for TensorBoard",
              "give the trace that torch.profiler wrote beside it (.pt.trace.json)"};
    case ForeignFile::kXplane:
      return {"a profile of JAX or TensorFlow", "give the trace.json.gz beside it"};
    case ForeignFile::kTar: return {"a tar archive", kUnpack};
    case ForeignFile::kZip: return {"a zip archive", kUnpack};
    case ForeignFile::kCompressed:
      return {"compressed by another program than gzip", "decompress it, or compress it with gzip"};
    case ForeignFile::kNumpyArchive:
    case ForeignFile::kNumpy: return {"an array of NumPy", kRecordTrace};
    case ForeignFile::kCheckpoint: return {"a checkpoint or a pickle of Python", kRecordTrace};
    case ForeignFile::kData: return {"a file of data", kRecordTrace};
    case ForeignFile::kPicture: return {"a picture", kRecordTrace};
    case ForeignFile::kProgram: return {"a program or a library", kRecordTrace};
    case ForeignFile::kBinary: return {"in no form that unstarve knows", kRecordTrace};
    case ForeignFile::kText: return {"text, and neither a trace nor a log of GPUs", kRecordTrace};
    default: return words_of_log(kind);
  }
}

std::string in_command(std::string_view advice, const std::string& word) {
  std::string text(advice);
  for (std::size_t at = text.find("{}"); at != text.npos; at = text.find("{}", at + word.size())) {
    text.replace(at, 2, word);
  }
  return text;
}

}  // namespace

std::string foreign_words(ForeignFile kind, const std::string& path) {
  const ForeignWords words = words_of(kind);
  return fmt::format("{} is {}: {}", path, words.what, in_command(words.advice, shell_word(path)));
}

}  // namespace unstarve::report
