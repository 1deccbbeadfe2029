#include "demo/demo_job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/io/files.h"
#include "base/io/read.h"
#include "base/io/write.h"
#include "base/shell_word.h"

namespace unstarve::demo {

namespace {

namespace fs = std::filesystem;

constexpr int kBatchSize = 128;
// More than a CPU's caches hold, and than a decoder could know by heart.
constexpr int kImages = 1'200;
// Enough that no trial comes to the end of an epoch, where workers would start again.
constexpr int kLinksPerImage = 50;
constexpr std::size_t kScriptBytesMax = 1 << 20;
constexpr std::string_view kTorchsLine = "from torch.utils.data import DataLoader\n";
constexpr std::string_view kOurLine = "from unstarve import DataLoader\n";

Result<std::vector<std::string>> list_photos(const std::string& photo_dir) {
  std::vector<std::string> photos;
  std::error_code failed;
  for (fs::directory_iterator entry(photo_dir, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".jpg") photos.push_back(fs::absolute(entry->path()).string());
  }
  if (failed || photos.empty()) {
    return fail(ErrorCode::kNotFound,
                "no photographs in '{}': run the demo from a checkout, or give --data DIR with "
                "one folder of JPEGs per class",
                photo_dir);
  }
  std::sort(photos.begin(), photos.end());
  return photos;
}

/// Links to a file, in the folder of its subject: what stands before the number in its name.
std::error_code link_image(const fs::path& image, const fs::path& links) {
  const std::string stem = image.stem().string();
  const fs::path subject = links / stem.substr(0, stem.find('_'));
  std::error_code failed;
  fs::create_directories(subject, failed);
  for (int i = 0; i < kLinksPerImage && !failed; ++i) {
    // The copy comes first in the name: so different images follow each other in a listing.
    fs::create_symlink(image, subject / fmt::format("{:02d}_{}.jpg", i, stem), failed);
  }
  return failed;
}

}  // namespace

Result<DemoData> make_demo_data(const std::string& photo_dir, const std::string& images,
                                const std::string& links, const ImageProgress& progress) {
  const auto photos = list_photos(photo_dir);
  if (!photos) return forward_error(photos);
  const auto made = make_demo_images(*photos, images, kImages, progress);
  if (!made) return forward_error(made);
  for (const std::string& image : made->files) {
    if (const std::error_code failed = link_image(image, links)) {
      return fail_errno(failed.value(), fmt::format("cannot make the demo's data in {}", links));
    }
  }
  return DemoData{links, kImages, made->bytes, made->seconds};
}

std::vector<std::string> demo_command(const launch::Installation& parts, const std::string& script,
                                      const std::string& data_folder, const DemoLength& length) {
  return {parts.python,
          script,
          data_folder,
          "--batch-size",
          fmt::format("{}", kBatchSize),
          "--steps",
          fmt::format("{}", length.steps)};
}

Status write_fixed_script(const launch::Installation& parts, const std::string& path) {
  io::Files files;
  const std::string original = parts.example_dir + "/train.py";
  auto script = io::read_text(files, original, kScriptBytesMax);
  if (!script) return fail_again(script.error(), fmt::format("cannot read {}", original));
  const std::size_t line = script->find(kTorchsLine);
  if (line == std::string::npos) {
    return fail(ErrorCode::kNotFound, "{} does not import torch's DataLoader", original);
  }
  script->replace(line, kTorchsLine.size(), kOurLine);
  return io::replace_file(path, *script);
}

Status check_demo_python(const launch::Installation& parts) {
  const std::string question =
      shell_word(parts.python) +
      " -c 'from importlib.util import find_spec as f; exit(not (f(\"torch\") and "
      "f(\"torchvision\")))' >/dev/null 2>&1";
  if (std::system(question.c_str()) == 0) return {};
  return fail(ErrorCode::kNotFound,
              "the demo trains with PyTorch, which '{0}' does not have: {0} -m pip install torch "
              "torchvision pillow, or name another Python with UNSTARVE_PYTHON",
              parts.python);
}

bool has_cuda_device(const launch::Installation& parts) {
  const std::string question =
      shell_word(parts.python) +
      " -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1";
  return std::system(question.c_str()) == 0;
}

}  // namespace unstarve::demo
