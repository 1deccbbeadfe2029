#include "trial/demo_job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/shell_word.h"

namespace unstarve::trial {

namespace {

namespace fs = std::filesystem;

constexpr int kBatchSize = 128;

Result<std::vector<fs::path>> list_photos(const std::string& photo_dir) {
  std::vector<fs::path> photos;
  std::error_code failed;
  for (fs::directory_iterator entry(photo_dir, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".jpg") photos.push_back(fs::absolute(entry->path()));
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

}  // namespace

Result<DemoData> make_demo_data(const std::string& photo_dir, const std::string& folder,
                                int links) {
  const auto photos = list_photos(photo_dir);
  if (!photos) return forward_error(photos);
  std::error_code failed;
  for (const char* name : {"a", "b"}) fs::create_directories(fs::path(folder) / name, failed);
  for (int i = 0; i < links && !failed; ++i) {
    const fs::path& photo = (*photos)[static_cast<std::size_t>(i) % photos->size()];
    const fs::path link =
        fs::path(folder) / (i % 2 == 0 ? "a" : "b") / fmt::format("{:06d}.jpg", i);
    fs::create_symlink(photo, link, failed);
  }
  if (failed) {
    return fail_errno(failed.value(), fmt::format("cannot make the demo's data in {}", folder));
  }
  return DemoData{folder, static_cast<int>(photos->size()), links};
}

std::vector<std::string> demo_command(const Installation& parts, const std::string& data_folder,
                                      const std::string& device, const DemoLength& length) {
  return {parts.python,   parts.example_dir + "/train.py",
          "--data",       data_folder,
          "--batch-size", fmt::format("{}", kBatchSize),
          "--device",     device,
          "--seconds",    fmt::format("{}", length.seconds),
          "--steps",      fmt::format("{}", length.steps)};
}

Status check_demo_python(const Installation& parts) {
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

std::string choose_demo_device(const Installation& parts) {
  const std::string question =
      shell_word(parts.python) +
      " -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1";
  return std::system(question.c_str()) == 0 ? "cuda" : "emulated-a100";
}

}  // namespace unstarve::trial
