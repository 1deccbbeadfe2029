#include "diagnose/signals/fetch_work.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

struct Known {
  std::string_view name;
  FetchWork work;
};

// Library functions that a line of the job calls, by the beginning of "FILE FUNCTION". The first
// that fits counts.
constexpr std::array kCallees = {
    Known{"transformers/tokenization_", FetchWork::kTokenizing},
    Known{"transformers/feature_extraction_", FetchWork::kSound},
    Known{"transformers/models/whisper/feature_extraction", FetchWork::kSound},
    Known{"tokenizers/", FetchWork::kTokenizing},
    Known{"tiktoken/", FetchWork::kTokenizing},
    Known{"sentencepiece/", FetchWork::kTokenizing},
    Known{"torchtext/", FetchWork::kTokenizing},
    Known{"nltk/", FetchWork::kTokenizing},
    Known{"spacy/", FetchWork::kTokenizing},
    Known{"pandas/io/", FetchWork::kParsing},
    Known{"pandas/", FetchWork::kTableRows},
    Known{"polars/", FetchWork::kTableRows},
    Known{"pyarrow/", FetchWork::kTableRows},
    Known{"geopandas/", FetchWork::kTableRows},
    Known{"datasets/arrow_dataset.py ", FetchWork::kTableRows},
    Known{"datasets/formatting/", FetchWork::kTableRows},
    Known{"torchaudio/_backend/", FetchWork::kParsing},
    Known{"torchaudio/", FetchWork::kSound},
    Known{"librosa/", FetchWork::kSound},
    Known{"scipy/signal/", FetchWork::kSound},
    Known{"scipy/fft/", FetchWork::kSound},
    Known{"python_speech_features/", FetchWork::kSound},
    Known{"torch/functional.py stft", FetchWork::kSound},
    Known{"h5py/_hl/files.py ", FetchWork::kOpening},
    Known{"zipfile.py __init__", FetchWork::kOpening},
    Known{"zipfile.py ", FetchWork::kDecompressing},
    Known{"zipfile/__init__.py __init__", FetchWork::kOpening},
    Known{"zipfile/__init__.py ", FetchWork::kDecompressing},
    Known{"gzip.py ", FetchWork::kDecompressing},
    Known{"bz2.py ", FetchWork::kDecompressing},
    Known{"lzma.py ", FetchWork::kDecompressing},
    Known{"_compression.py ", FetchWork::kDecompressing},
    Known{"tarfile.py open", FetchWork::kOpening},
    Known{"tarfile.py __init__", FetchWork::kOpening},
    Known{"xarray/backends/api.py open", FetchWork::kOpening},
    Known{"rasterio/__init__.py open", FetchWork::kOpening},
    Known{"rasterio/env.py ", FetchWork::kOpening},
    Known{"h5py/", FetchWork::kArrayFiles},
    Known{"zarr/", FetchWork::kArrayFiles},
    Known{"xarray/", FetchWork::kArrayFiles},
    Known{"netCDF4/", FetchWork::kArrayFiles},
    Known{"tables/", FetchWork::kArrayFiles},
    Known{"nibabel/", FetchWork::kArrayFiles},
    Known{"SimpleITK/", FetchWork::kArrayFiles},
    Known{"pydicom/", FetchWork::kArrayFiles},
    Known{"tifffile/", FetchWork::kArrayFiles},
    Known{"scipy/io/", FetchWork::kArrayFiles},
    Known{"requests/api.py ", FetchWork::kConnecting},
    Known{"urllib/request.py ", FetchWork::kConnecting},
    Known{"boto3/", FetchWork::kConnecting},
    Known{"sqlalchemy/engine/create.py ", FetchWork::kConnecting},
    Known{"sqlalchemy/", FetchWork::kQueries},
    Known{"peewee.py ", FetchWork::kQueries},
    Known{"torchvision/io/video", FetchWork::kVideo},
    Known{"torchcodec/", FetchWork::kVideo},
    Known{"decord/", FetchWork::kVideo},
    Known{"av/", FetchWork::kVideo},
    Known{"moviepy/", FetchWork::kVideo},
    Known{"PIL/Image.py resize", FetchWork::kResizing},
    Known{"PIL/Image.py thumbnail", FetchWork::kResizing},
    Known{"PIL/ImageOps.py ", FetchWork::kResizing},
    Known{"skimage/transform/", FetchWork::kResizing},
    Known{"torchvision/transforms/functional.py resize", FetchWork::kResizing},
    Known{"json/", FetchWork::kParsing},
    Known{"csv.py ", FetchWork::kParsing},
    Known{"re.py ", FetchWork::kParsing},
    Known{"re/__init__.py ", FetchWork::kParsing},
    Known{"ast.py literal_eval", FetchWork::kParsing},
    Known{"xml/", FetchWork::kParsing},
    Known{"html/", FetchWork::kParsing},
    Known{"bs4/", FetchWork::kParsing},
    Known{"yaml/", FetchWork::kParsing},
    Known{"numpy/lib/npyio.py loadtxt", FetchWork::kParsing},
    Known{"numpy/lib/_npyio_impl.py loadtxt", FetchWork::kParsing},
    Known{"numpy/lib/npyio.py genfromtxt", FetchWork::kParsing},
    Known{"numpy/lib/_npyio_impl.py genfromtxt", FetchWork::kParsing},
    Known{"numpy/lib/npyio.py load", FetchWork::kArrayFiles},
    Known{"numpy/lib/npyio.py __getitem__", FetchWork::kDecompressing},  // of an .npz
    Known{"numpy/lib/_npyio_impl.py load", FetchWork::kArrayFiles},
    Known{"numpy/lib/_npyio_impl.py __getitem__", FetchWork::kDecompressing},
    Known{"torch/serialization.py load", FetchWork::kArrayFiles},
};

// Calls as the line writes them, of compiled functions.
constexpr std::array kCalls = {
    Known{"tokenizer(", FetchWork::kTokenizing},
    Known{"tokenizer.", FetchWork::kTokenizing},
    Known{"tokenize(", FetchWork::kTokenizing},
    Known{".iloc[", FetchWork::kTableRows},
    Known{".loc[", FetchWork::kTableRows},
    Known{"h5py.File(", FetchWork::kOpening},
    Known{"lmdb.open(", FetchWork::kOpening},
    Known{"sqlite3.connect(", FetchWork::kConnecting},
    Known{"psycopg2.connect(", FetchWork::kConnecting},
    Known{".execute(", FetchWork::kQueries},
    Known{"fetchone(", FetchWork::kQueries},
    Known{"fetchall(", FetchWork::kQueries},
    Known{"gzip.decompress(", FetchWork::kDecompressing},
    Known{"zlib.decompress(", FetchWork::kDecompressing},
    Known{"lzma.decompress(", FetchWork::kDecompressing},
    Known{"bz2.decompress(", FetchWork::kDecompressing},
    Known{"VideoCapture(", FetchWork::kVideo},
    Known{"CAP_PROP_POS", FetchWork::kVideo},
    Known{"cap.read(", FetchWork::kVideo},
    Known{"capture.read(", FetchWork::kVideo},
    Known{"video.read(", FetchWork::kVideo},
    Known{"cv2.resize(", FetchWork::kResizing},
    Known{"json.loads(", FetchWork::kParsing},
    Known{"re.findall(", FetchWork::kParsing},
    Known{"MolFromSmiles(", FetchWork::kParsing},
    Known{"re.sub(", FetchWork::kParsing},
};

template <std::size_t N, class Matches>
std::optional<FetchWork> find(const std::array<Known, N>& table, Matches matches) {
  const auto known = std::find_if(table.begin(), table.end(), matches);
  return known == table.end() ? std::nullopt : std::optional<FetchWork>(known->work);
}

// Of torchvision's transforms those that the engine knows (python/unstarve/lowering; a test of its
// own compares them), also beside masks and boxes.
constexpr std::array<std::string_view, 31> kTransforms = {
    "AutoAugment",
    "CenterCrop",
    "ColorJitter",
    "ConvertImageDtype",
    "GaussianBlur",
    "ImageClassification",
    "Normalize",
    "PILToTensor",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutocontrast",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ScaleJitter",
    "ToDtype",
    "ToTensor",
    "TrivialAugmentWide",
};

/// What a script may ask of an image before it is decoded, and the last steps, which take one pass.
constexpr std::array<std::string_view, 11> kCuts = {
    "PIL/Image.py crop",
    "PIL/Image.py resize",
    "PIL/Image.py transpose",
    "torchvision/transforms/functional.py convert_image_dtype",
    "torchvision/transforms/functional.py crop",
    "torchvision/transforms/functional.py hflip",
    "torchvision/transforms/functional.py normalize",
    "torchvision/transforms/functional.py resize",
    "torchvision/transforms/functional.py resized_crop",
    "torchvision/transforms/functional.py to_tensor",
    "torchvision/transforms/functional.py vflip",
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Modules of torch are called through torch's own function, and of torchvision's second kind all
/// transforms are modules.
bool calls_a_transform(const trace::Stack& stack) {
  return stack.callee.starts_with("torchvision/transforms/") ||
         stack.callee.starts_with("torch/nn/modules/module.py ");
}

/// A data set of a library has no line of the job's.
bool is_in_library(const trace::Stack& stack) { return stack.line.empty(); }

}  // namespace

std::optional<FetchWork> fetch_work(const trace::Stack& stack) {
  if (!stack.callee.empty()) {
    return find(kCallees,
                [&stack](const Known& known) { return stack.callee.rfind(known.name, 0) == 0; });
  }
  return find(kCalls, [&stack](const Known& known) {
    return stack.call.find(known.name) != std::string::npos;
  });
}

OpenedImageWork opened_image_work(const trace::Stack& stack) {
  const bool within = is_in_library(stack) || calls_a_transform(stack);
  const bool cuts = is_one_of(kCuts, stack.callee);
  if (stack.in_png) return OpenedImageWork::kLoading;
  if (stack.in_jpeg) {
    const bool opens = stack.callee == "PIL/Image.py convert" ||
                       stack.callee.starts_with("datasets/") || within || cuts;
    return opens ? OpenedImageWork::kDecoding : OpenedImageWork::kNone;
  }
  const bool transforms = cuts || (within && is_one_of(kTransforms, stack.transform));
  return transforms && !stack.in_collate ? OpenedImageWork::kTransforming : OpenedImageWork::kNone;
}

std::optional<FetchWorkShare> main_fetch_work(const Signals& signals) {
  constexpr double kMost = 0.5;
  const auto most =
      std::max_element(kFetchWorkShares.begin(), kFetchWorkShares.end(),
                       [&signals](const FetchWorkShare& a, const FetchWorkShare& b) {
                         return (signals.*a.share).value_or(0) < (signals.*b.share).value_or(0);
                       });
  if ((signals.*most->share).value_or(0) < kMost) return std::nullopt;
  return *most;
}

bool fetches_wait_for_libraries(const Signals& signals) {
  constexpr double kMuch = 0.35;
  constexpr double kMostOfIt = 0.5;
  constexpr std::array kOnCpu = {FetchWork::kTokenizing, FetchWork::kTableRows, FetchWork::kSound,
                                 FetchWork::kResizing};
  const std::optional<FetchWorkShare> work = main_fetch_work(signals);
  const double off_cpu = 1 - signals.fetch_cpu_ratio.value_or(1);
  if (!work || off_cpu < kMuch || fetches_wait_for_cpu(signals)) return false;
  if (std::find(kOnCpu.begin(), kOnCpu.end(), work->work) == kOnCpu.end()) return false;
  // A run of a few seconds has too few looks from outside. Then this work is known to wait for
  // nothing else.
  return signals.fetch_in_locks_ratio.value_or(1) >= kMostOfIt * off_cpu;
}

bool makes_data(FetchWork work) {
  switch (work) {
    case FetchWork::kTokenizing:
    case FetchWork::kTableRows:
    case FetchWork::kSound:
    case FetchWork::kParsing:
    case FetchWork::kVideo:
    case FetchWork::kDecompressing:
    case FetchWork::kResizing: return true;
    case FetchWork::kArrayFiles:
    case FetchWork::kOpening:
    case FetchWork::kConnecting:
    case FetchWork::kQueries: return false;
  }
  return false;
}

std::string_view words_of(FetchWork work) {
  switch (work) {
    case FetchWork::kTokenizing: return "tokenizing";
    case FetchWork::kTableRows: return "taking a row out of a table";
    case FetchWork::kSound: return "computing features of sound";
    case FetchWork::kArrayFiles: return "reading an array file";
    case FetchWork::kOpening: return "opening a file";
    case FetchWork::kConnecting: return "connecting";
    case FetchWork::kQueries: return "a database query";
    case FetchWork::kParsing: return "parsing text";
    case FetchWork::kVideo: return "decoding video";
    case FetchWork::kDecompressing: return "decompressing";
    case FetchWork::kResizing: return "resizing an image";
  }
  return "";
}

}  // namespace unstarve::diagnose
