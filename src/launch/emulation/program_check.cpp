#include "launch/emulation/program_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "launch/job_python.h"

namespace unstarve::launch {

namespace {

constexpr std::size_t kInterpreterBytesMax = 4096;

/// One structure of a file at a place that the file itself may have named.
template <class T>
std::optional<T> read_at(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(reinterpret_cast<char*>(&value), sizeof(value))) return std::nullopt;
  return value;
}

/// The loader that a program asks for ("/lib64/ld-linux-x86-64.so.2"); empty: it asks for none.
/// Nothing where it is no 64-bit ELF program, or a broken one.
std::optional<std::string> interpreter_of(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type != PT_INTERP) continue;
    if (segment->p_filesz > kInterpreterBytesMax) return std::nullopt;
    std::string name(segment->p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment->p_offset));
    if (!file.read(name.data(), static_cast<std::streamsize>(name.size()))) return std::nullopt;
    return std::string(name.c_str());
  }
  return std::string();
}

}  // namespace

std::string why_not_given_libraries(const std::string& program) {
  const auto loader = interpreter_of(program);
  if (!loader) return {};
  if (loader->empty()) {
    return fmt::format(
        "{} is statically linked: no library can be put in the place of NVIDIA's in it itself",
        program);
  }
  if (loader->find("ld-musl") != std::string::npos) {
    return fmt::format(
        "{} is built for musl, whose loader cannot put other libraries in the place of NVIDIA's; "
        "use a Python for glibc (Debian's, Ubuntu's, conda's)",
        program);
  }
  return {};
}

std::string how_to_install_cuda(const TorchBuild& torch) {
  const std::string release = torch.version.substr(0, torch.version.find('+'));
  return fmt::format(
      "install a build for CUDA; neither a GPU nor NVIDIA's packages are needed: "
      "pip install --no-deps --force-reinstall torch=={}",
      release);
}

std::string why_not_emulated(const std::vector<std::string>& command) {
  const std::string program = command.empty() ? std::string() : find_program(command.front());
  if (program.empty()) return {};
  const std::string python = python_of(command);
  std::string why = why_not_given_libraries(python.empty() ? program : python);
  if (!why.empty() || python.empty()) return why;
  const TorchBuild torch = look_at_torch(python);
  if (torch.version.empty() || torch.has_cuda) return {};
  return fmt::format("torch {} in {} is built for {}: it will see no GPU. {}", torch.version,
                     python, torch.platform.empty() ? "the CPU alone" : torch.platform,
                     how_to_install_cuda(torch));
}

}  // namespace unstarve::launch
