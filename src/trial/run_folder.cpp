#include "trial/run_folder.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/clock.h"

namespace unstarve::trial {

namespace {

namespace fs = std::filesystem;

// Folders of one second and one script; a sweep starts fewer.
constexpr int kMostOfOneName = 10'000;
// Of a script's name, so that the folder's is no longer than file systems allow.
constexpr std::size_t kNameBytesMax = 64;

/// The script if there is one, else the program: "python -u train.py --lr 1" is "train".
std::string name_of(const std::vector<std::string>& command) {
  const auto is_script = [](const std::string& word) {
    const std::string extension = fs::path(word).extension().string();
    return extension == ".py" || extension == ".sh";
  };
  const auto script = std::find_if(command.begin(), command.end(), is_script);
  const auto named = script != command.end() ? script : command.begin();
  std::string name = named != command.end() ? fs::path(*named).stem().string() : std::string();
  name.resize(std::min(name.size(), kNameBytesMax));
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return name.empty() ? "job" : name;
}

std::string local_time() {
  const auto now = static_cast<std::time_t>(wall_time_ns() / 1'000'000'000);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%d_%H-%M-%S", &local);
  return text;
}

}  // namespace

Result<std::string> make_run_folder(const std::string& parent,
                                    const std::vector<std::string>& command) {
  std::error_code failed;
  fs::create_directories(parent, failed);
  const std::string name = parent + "/" + local_time() + "_" + name_of(command);
  std::string folder = name;
  for (int number = 2; !failed && number <= kMostOfOneName; ++number) {
    if (fs::create_directory(folder, failed)) return folder;
    folder = fmt::format("{}-{}", name, number);
  }
  if (!failed) failed = std::make_error_code(std::errc::file_exists);
  return fail_errno(
      failed.value(),
      fmt::format("cannot make the run folder {} (choose another with --out)", folder));
}

void remove_run_folder(const std::string& folder) {
  std::error_code ignored;
  for (const char* file : {"run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "rings"}) {
    fs::remove(fs::path(folder) / file, ignored);
  }
  fs::remove(folder, ignored);
}

}  // namespace unstarve::trial
