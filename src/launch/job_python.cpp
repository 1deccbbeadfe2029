#include "launch/job_python.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/shell_word.h"
#include "launch/scripts.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code unknown;
  return fs::is_regular_file(file, unknown) && ::access(file.c_str(), X_OK) == 0;
}

std::vector<std::string> folders_of_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::vector<std::string> found;
  for (std::string folder; std::getline(folders, folder, ':');) {
    found.push_back(folder.empty() ? "." : folder);
  }
  return found;
}

bool is_python(const std::string& program) {
  return fs::path(program).filename().string().rfind("python", 0) == 0;
}

/// The interpreter in the first line of a script such as torchrun; empty where it is no Python.
std::string script_interpreter(const std::string& script) {
  std::ifstream file(script);
  std::string line;
  if (!std::getline(file, line) || line.rfind("#!", 0) != 0) return {};
  std::istringstream words(line.substr(2));
  std::string program;
  words >> program;
  if (fs::path(program).filename() == "env") words >> program;
  return is_python(program) ? find_program(program) : std::string();
}

JobPython first_on_path() {
  for (const std::string& folder : folders_of_path()) {
    for (const char* name : {"python", "python3"}) {
      const fs::path file = fs::path(folder) / name;
      if (is_program(file)) return {file.string(), "the first on PATH"};
    }
  }
  return {"", "no python and no python3 on PATH"};
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : std::string();
  for (const std::string& folder : folders_of_path()) {
    if (const fs::path file = fs::path(folder) / name; is_program(file)) return file.string();
  }
  return {};
}

std::string python_of(const std::vector<std::string>& command) {
  const std::string program = command.empty() ? std::string() : find_program(command.front());
  if (program.empty() || is_python(program)) return program;
  return script_interpreter(program);
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>/dev/null </dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), static_cast<int>(piece.size()), pipe) != nullptr) {
    output += piece.data();
  }
  const int status = ::pclose(pipe);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return status == 0 ? output : std::string();
}

TorchBuild look_at_torch(const std::string& python) {
  const std::string output =
      output_of(shell_word(python) + " -c " + shell_word(torch_build_script()));
  std::istringstream lines(output);
  TorchBuild build;
  std::string cuda;
  std::string hip;
  std::getline(lines, build.version);
  std::getline(lines, cuda);
  std::getline(lines, hip);
  build.has_cuda = !cuda.empty();
  if (build.has_cuda) {
    build.platform = "CUDA " + cuda;
  } else if (!hip.empty()) {
    build.platform = "ROCm " + hip;
  }
  return build;
}

JobPython find_job_python(const std::string& named, const std::vector<std::string>& command) {
  if (!named.empty()) {
    const std::string program = find_program(named);
    return {program, program.empty() ? "there is no program '" + named + "'" : "named by --python"};
  }
  if (command.empty()) return first_on_path();
  const std::string program = find_program(command.front());
  if (program.empty()) return {"", "there is no command '" + command.front() + "'"};
  if (is_python(program)) return {program, "the job's command"};
  const std::string interpreter = script_interpreter(program);
  if (!interpreter.empty()) return {interpreter, "named in the first line of " + program};
  JobPython first = first_on_path();
  first.chosen += ", since " + program + " is no Python";
  return first;
}

}  // namespace unstarve::launch
