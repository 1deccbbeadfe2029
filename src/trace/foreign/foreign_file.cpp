#include "trace/foreign/foreign_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace unstarve::trace {

namespace {

using namespace std::string_view_literals;

/// Bytes that a kind of file begins with; none as the kind: whoever reads it knows better.
struct Magic {
  std::string_view bytes;
  std::optional<ForeignFile> kind;
};

constexpr std::array<Magic, 19> kMagics = {{
    {"SQLite format 3\0"sv, std::nullopt},
    {"\x1f\x8b"sv, std::nullopt},  // gzip that could not be decompressed
    {"version https://git-lfs.github.com/spec/"sv, ForeignFile::kLfsPointer},
    {"\x93NUMPY"sv, ForeignFile::kNumpy},
    {"PK\x03\x04"sv, ForeignFile::kZip},
    {"PK\x05\x06"sv, ForeignFile::kZip},
    {"\x80\x02"sv, ForeignFile::kCheckpoint},  // pickles of these protocols
    {"\x80\x03"sv, ForeignFile::kCheckpoint},
    {"\x80\x04"sv, ForeignFile::kCheckpoint},
    {"\x80\x05"sv, ForeignFile::kCheckpoint},
    {"\x28\xb5\x2f\xfd"sv, ForeignFile::kCompressed},  // zstd
    {"\xfd\x37zXZ\0"sv, ForeignFile::kCompressed},
    {"BZh"sv, ForeignFile::kCompressed},
    {"7z\xbc\xaf\x27\x1c"sv, ForeignFile::kCompressed},
    {"\x89HDF\r\n"sv, ForeignFile::kData},
    {"PAR1"sv, ForeignFile::kData},
    {"\x89PNG\r\n"sv, ForeignFile::kPicture},
    {"\xff\xd8\xff"sv, ForeignFile::kPicture},  // JPEG
    {"\x7f"
     "ELF"sv,
     ForeignFile::kProgram},
}};

struct Ending {
  std::string_view text;
  ForeignFile kind;
};

// What their content does not tell, or tells less well.
constexpr std::array<Ending, 6> kEndings = {{
    {".nsys-rep", ForeignFile::kNsysReport},
    {".qdrep", ForeignFile::kNsysReport},
    {".qdstrm", ForeignFile::kNsysReport},
    {".ncu-rep", ForeignFile::kComputeReport},
    {".xplane.pb", ForeignFile::kXplane},
    {".npz", ForeignFile::kNumpyArchive},
}};

// Of nvidia-smi, of the library below it, and of shells that do not find it.
constexpr std::array<std::string_view, 8> kErrors = {
    "NVIDIA-SMI has failed",         "Failed to initialize NVML",
    "No devices were found",         "Unable to determine the device handle",
    "couldn't find libnvidia-ml",    "is not a valid field to query",
    "nvidia-smi: command not found", "'nvidia-smi' is not recognized",
};

// Columns that a log of nvidia-smi has one of.
constexpr std::array<std::string_view, 5> kColumns = {
    "utilization.gpu", "memory.used", "power.draw", "clocks.sm", "clocks.current.sm"};

constexpr std::string_view kDividers = ",;\t";  // between columns

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

/// The text in plain letters where it is UTF-16; empty where it is not.
std::string from_utf16(std::string_view start) {
  constexpr std::size_t kFewest = 8;
  const bool marked = start.starts_with("\xff\xfe"sv) || start.starts_with("\xfe\xff"sv);
  const std::string_view text = marked ? start.substr(2) : start;
  std::string letters;
  std::size_t zeros = 0;
  for (const char c : text) {
    if (c == '\0') ++zeros;
    if (c != '\0') letters.push_back(c);
  }
  if (marked) return letters;
  // Without a mark: plain letters, each beside a zero.
  const bool in_pairs =
      text.size() >= kFewest && zeros == text.size() / 2 && (text[0] == '\0') != (text[1] == '\0');
  return in_pairs ? letters : std::string();
}

bool names_columns(std::string_view line) {
  return std::any_of(kColumns.begin(), kColumns.end(),
                     [line](std::string_view column) { return has(line, column); });
}

/// "2024/01/31 12:00:00.000, ...", as nvidia-smi begins a line of a log.
bool begins_with_time(std::string_view line) {
  constexpr std::string_view kShape = "0000/00/00 00:00:00";
  if (line.starts_with('"')) line.remove_prefix(1);
  if (line.size() < kShape.size()) return false;
  return std::equal(kShape.begin(), kShape.end(), line.begin(), [](char shape, char c) {
    return shape == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : shape == c;
  });
}

/// Whether a line names columns as nvidia-smi writes them, with commas or, of dmon, with blanks.
bool is_log_as_written(std::string_view line) {
  if (line.starts_with('#')) return has(line, " gpu ");
  return names_columns(line) && (has(line, ",") || has(line, ";"));
}

/// What a line of a log tells of it; warnings may stand before.
std::optional<ForeignFile> log_of(std::string_view line) {
  return begins_with_time(line) ? std::optional(ForeignFile::kLogWithoutNames) : std::nullopt;
}

/// Two lines that one mark divides into as many columns.
bool is_table(std::string_view text) {
  const std::string_view line = first_line(text);
  const std::size_t next = text.find_first_not_of("\r\n", line.size());
  if (next == text.npos) return false;
  const std::string_view second = first_line(text.substr(next));
  return std::any_of(kDividers.begin(), kDividers.end(), [&](char divider) {
    const auto columns = std::count(line.begin(), line.end(), divider);
    return columns > 0 && columns == std::count(second.begin(), second.end(), divider);
  });
}

/// None: a log whose reader knows better.
std::optional<ForeignFile> text_kind(std::string_view text) {
  const std::string small = lower(text);
  if (small.starts_with("<!doctype html") || small.starts_with("<html")) return ForeignFile::kHtml;
  if (has(text, "nvidia_smi_log") || has(text, "NVSMI LOG")) return ForeignFile::kSmiQuery;
  if (has(text, "| NVIDIA-SMI ")) return ForeignFile::kSmiTable;
  for (const std::string_view error : kErrors) {
    if (has(text, error)) return ForeignFile::kSmiError;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = first_line(rest);
    if (is_log_as_written(line)) return std::nullopt;
    if (const auto log = log_of(line)) return log;
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return is_table(text) ? ForeignFile::kOtherTable : ForeignFile::kText;
}

bool is_binary(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b;
  });
}

/// A zip whose first entry is what only they hold.
ForeignFile zip_kind(std::string_view start) {
  if (has(start, ".npy")) return ForeignFile::kNumpyArchive;
  return has(start, "/data.pkl") ? ForeignFile::kCheckpoint : ForeignFile::kZip;
}

}  // namespace

std::optional<ForeignFile> recognise(std::string_view path, std::string_view start) {
  if (start.empty()) return std::nullopt;
  for (const Ending& ending : kEndings) {
    if (path.ends_with(ending.text)) return ending.kind;
  }
  if (has(path.substr(path.find_last_of('/') + 1), ".tfevents.")) return ForeignFile::kTensorboard;
  for (const Magic& magic : kMagics) {
    if (!start.starts_with(magic.bytes)) continue;
    return magic.kind == ForeignFile::kZip ? zip_kind(start) : magic.kind;
  }
  constexpr std::size_t kTarMark = 257;  // of POSIX and GNU tar
  if (start.size() > kTarMark && start.substr(kTarMark).starts_with("ustar")) {
    return ForeignFile::kTar;
  }
  if (const std::string letters = from_utf16(start); !letters.empty()) {
    return names_columns(letters) ? std::nullopt : std::optional(ForeignFile::kUtf16);
  }
  if (is_binary(start)) return ForeignFile::kBinary;
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos) return ForeignFile::kText;
  const std::string_view text = start.substr(first);
  if (text.front() == '{' || text.front() == '[') return std::nullopt;
  return text_kind(text);
}

}  // namespace unstarve::trace
