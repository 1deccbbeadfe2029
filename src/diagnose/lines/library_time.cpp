#include "diagnose/lines/library_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/number_words.h"
#include "diagnose/signals/host_signals.h"

namespace unstarve::diagnose {

namespace {

constexpr double kSmallest = 0.01;
constexpr double kWorthNaming = 0.05;
// A share of half is then known to 14 % (twice its standard deviation).
constexpr std::int64_t kFewestLooks = 50;

struct KnownLibrary {
  std::string_view begins;
  std::string_view what;
};

// By how the name begins: wheels bring their own copies, named libjpeg-4d1b1f2e.so.62.4.0.
constexpr std::array kKnown = {
    KnownLibrary{"libjpeg", "JPEG images"},
    KnownLibrary{"libturbojpeg", "JPEG images"},
    KnownLibrary{"libnvjpeg", "JPEG images"},
    KnownLibrary{"libpng", "PNG images"},
    KnownLibrary{"libwebp", "WebP images"},
    KnownLibrary{"libtiff", "TIFF images"},
    KnownLibrary{"_imaging.", "Pillow"},
    KnownLibrary{"image.so", "torchvision's image files"},
    KnownLibrary{"cv2.", "OpenCV"},
    KnownLibrary{"libopencv", "OpenCV"},
    KnownLibrary{"libavcodec", "video"},
    KnownLibrary{"libavformat", "video"},
    KnownLibrary{"libswscale", "video"},
    KnownLibrary{"libsndfile", "sound files"},
    KnownLibrary{"libFLAC", "sound files"},
    KnownLibrary{"libsqlite3", "SQLite"},
    KnownLibrary{"_sqlite3.", "SQLite"},
    KnownLibrary{"libz.", "compression"},
    KnownLibrary{"libz-", "compression"},
    KnownLibrary{"zlib.", "compression"},
    KnownLibrary{"libdeflate", "compression"},
    KnownLibrary{"libzstd", "compression"},
    KnownLibrary{"liblzma", "compression"},
    KnownLibrary{"libbz2", "compression"},
    KnownLibrary{"liblz4", "compression"},
    KnownLibrary{"libcrypto", "encryption and checksums"},
    KnownLibrary{"_hashlib", "encryption and checksums"},
    KnownLibrary{"libarrow", "Arrow"},
    KnownLibrary{"libparquet", "Arrow"},
    KnownLibrary{"libhdf5", "HDF5"},
    KnownLibrary{"tokenizers.", "tokenizers"},
    KnownLibrary{"_multiarray_umath", "NumPy"},
    KnownLibrary{"_pocketfft_umath", "NumPy"},
    KnownLibrary{"libopenblas", "linear algebra"},
    KnownLibrary{"libscipy_openblas", "linear algebra"},
    KnownLibrary{"libmkl", "linear algebra"},
    KnownLibrary{"libtorch", "PyTorch"},
    KnownLibrary{"libc10", "PyTorch"},
    KnownLibrary{"libgomp", "waiting threads of OpenMP"},
    KnownLibrary{"libiomp", "waiting threads of OpenMP"},
    KnownLibrary{"libcuda", "CUDA"},
    KnownLibrary{"python", "Python itself"},
    KnownLibrary{"libpython", "Python itself"},
    KnownLibrary{"libc.so", "copies and allocation (libc)"},
    KnownLibrary{"libc-2", "copies and allocation (libc)"},
};

}  // namespace

std::string_view what_library_does(std::string_view library) {
  for (const KnownLibrary& known : kKnown) {
    if (library.substr(0, known.begins.size()) == known.begins) return known.what;
  }
  return {};
}

LibraryTime library_time(const HostSignals& host) {
  LibraryTime time;
  double looks = 0;
  for (const LibraryLooks& library : host.fetch_libraries) looks += library.looks;
  time.looks = static_cast<std::int64_t>(looks);
  for (const LibraryLooks& library : host.fetch_libraries) {
    if (library.looks < kSmallest * looks) continue;
    time.parts.push_back(
        {library.library, std::string(what_library_does(library.library)), library.looks / looks});
  }
  std::stable_sort(time.parts.begin(), time.parts.end(),
                   [](const LibraryShare& a, const LibraryShare& b) { return a.share > b.share; });
  return time;
}

std::string library_list(const LibraryTime& time) {
  if (time.looks < kFewestLooks) return {};
  std::map<std::string, double> by_purpose;
  for (const LibraryShare& part : time.parts) {
    by_purpose[part.what.empty() ? part.library : part.what] += part.share;
  }
  std::vector<std::pair<std::string, double>> sorted(by_purpose.begin(), by_purpose.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string list;
  for (const auto& [purpose, share] : sorted) {
    if (share < kWorthNaming) break;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", percent_text(share), purpose);
  }
  return list;
}

}  // namespace unstarve::diagnose
