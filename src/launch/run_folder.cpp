#include "launch/run_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/clock.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

// Folders of one second and one script; a sweep starts fewer.
constexpr int kMostOfOneName = 10'000;
// Of a script's name, so that the folder's is no longer than file systems allow.
constexpr std::size_t kNameBytesMax = 64;

/// The module that Python or a launcher is told to run by -m; the end where there is none.
std::vector<std::string>::const_iterator module_of(const std::vector<std::string>& command) {
  const std::string program =
      command.empty() ? std::string() : fs::path(command.front()).filename().string();
  const bool runs_modules = program.compare(0, 6, "python") == 0 || program == "torchrun" ||
                            program == "accelerate" || program == "deepspeed";
  if (!runs_modules) return command.end();
  const auto flag = std::find(command.begin(), command.end(), "-m");
  return flag == command.end() ? flag : std::next(flag);
}

/// The script or module if there is one, else the program: "python -u train.py --lr 1" is "train",
/// "python -m timm.train" is "timm.train".
std::string name_of(const std::vector<std::string>& command) {
  const auto is_script = [](const std::string& word) {
    const std::string extension = fs::path(word).extension().string();
    return extension == ".py" || extension == ".sh";
  };
  const auto script = std::find_if(command.begin(), command.end(), is_script);
  const auto module = module_of(command);
  const auto named = script != command.end() ? script : command.begin();
  std::string name = named != command.end() ? fs::path(*named).stem().string() : std::string();
  // Of "python -m pkg data.py" the module comes first.
  if (module < script) name = *module;
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
    if (fs::create_directory(folder, failed)) {
      ::chmod(folder.c_str(), 0700);  // for its owner alone
      return folder;
    }
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

}  // namespace unstarve::launch
