#include "diagnose/lines/library_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "diagnose/rules/wording.h"
#include "diagnose/signals/host_signals.h"

namespace unstarve::diagnose {

namespace {

constexpr double kSmallest = 0.01;
constexpr double kWorthNaming = 0.05;
// A share of half is then known to 14 % (twice its standard deviation).
constexpr std::int64_t kFewestLooks = 50;

struct Known {
  std::string_view begins;
  std::string_view what;
};

// By how the name begins: wheels bring their own copies, named libjpeg-4d1b1f2e.so.62.4.0.
constexpr std::array kKnown = {
    Known{"libjpeg", "JPEG images"},
    Known{"libturbojpeg", "JPEG images"},
    Known{"libnvjpeg", "JPEG images"},
    Known{"libpng", "PNG images"},
    Known{"libwebp", "WebP images"},
    Known{"libtiff", "TIFF images"},
    Known{"_imaging.", "Pillow"},
    Known{"image.so", "torchvision's image files"},
    Known{"cv2.", "OpenCV"},
    Known{"libopencv", "OpenCV"},
    Known{"libavcodec", "video"},
    Known{"libavformat", "video"},
    Known{"libswscale", "video"},
    Known{"libsndfile", "sound files"},
    Known{"libFLAC", "sound files"},
    Known{"libsqlite3", "SQLite"},
    Known{"_sqlite3.", "SQLite"},
    Known{"libz.", "compression"},
    Known{"libz-", "compression"},
    Known{"zlib.", "compression"},
    Known{"libdeflate", "compression"},
    Known{"libzstd", "compression"},
    Known{"liblzma", "compression"},
    Known{"libbz2", "compression"},
    Known{"liblz4", "compression"},
    Known{"libcrypto", "encryption and checksums"},
    Known{"_hashlib", "encryption and checksums"},
    Known{"libarrow", "Arrow"},
    Known{"libparquet", "Arrow"},
    Known{"libhdf5", "HDF5"},
    Known{"tokenizers.", "tokenizers"},
    Known{"_multiarray_umath", "NumPy"},
    Known{"_pocketfft_umath", "NumPy"},
    Known{"libopenblas", "linear algebra"},
    Known{"libscipy_openblas", "linear algebra"},
    Known{"libmkl", "linear algebra"},
    Known{"libtorch", "PyTorch"},
    Known{"libc10", "PyTorch"},
    Known{"libgomp", "waiting threads of OpenMP"},
    Known{"libiomp", "waiting threads of OpenMP"},
    Known{"libcuda", "CUDA"},
    Known{"python", "Python itself"},
    Known{"libpython", "Python itself"},
    Known{"libc.so", "copies and allocation (libc)"},
    Known{"libc-2", "copies and allocation (libc)"},
};

}  // namespace

std::string_view what_library_does(std::string_view library) {
  for (const Known& known : kKnown) {
    if (library.substr(0, known.begins.size()) == known.begins) return known.what;
  }
  return {};
}

LibraryTime library_time(const HostSignals& host) {
  LibraryTime time;
  double looks = 0;
  for (const LibraryLooks& one : host.fetch_libraries) looks += one.looks;
  time.looks = static_cast<std::int64_t>(looks);
  for (const LibraryLooks& one : host.fetch_libraries) {
    if (one.looks < kSmallest * looks) continue;
    time.parts.push_back(
        {one.library, std::string(what_library_does(one.library)), one.looks / looks});
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
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", percent(share), purpose);
  }
  return list;
}

}  // namespace unstarve::diagnose
