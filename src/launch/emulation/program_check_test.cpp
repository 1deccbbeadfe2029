#include "launch/emulation/program_check.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/testing/test_folder.h"

namespace unstarve::launch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// A program's headers, with one segment that names `loader`; empty: none that does.
std::string elf(std::string_view loader) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(header);
  header.e_phnum = 2;
  Elf64_Phdr first{};
  first.p_type = PT_LOAD;
  Elf64_Phdr second{};
  second.p_type = loader.empty() ? PT_NOTE : PT_INTERP;
  second.p_offset = sizeof(header) + 2 * sizeof(first);
  second.p_filesz = loader.size() + 1;
  return bytes_of(header) + bytes_of(first) + bytes_of(second) + std::string(loader) + '\0';
}

class ProgramCheck : public testing::Test {
 protected:
  std::string program(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    fs::permissions(path_, fs::perms::owner_all);
    return path_;
  }

  TestFolder folder_;
  std::string path_ = folder_.path() + "/program";
};

TEST_F(ProgramCheck, OneOfGlibcIsGivenLibraries) {
  EXPECT_THAT(why_not_given_libraries(program(elf("/lib64/ld-linux-x86-64.so.2"))), IsEmpty());
  EXPECT_THAT(why_not_given_libraries("/proc/self/exe"), IsEmpty());
}

TEST_F(ProgramCheck, OneThatIsStaticallyLinkedIsNot) {
  EXPECT_THAT(why_not_given_libraries(program(elf(""))), HasSubstr("statically linked"));
}

TEST_F(ProgramCheck, OneOfMuslIsNot) {
  EXPECT_THAT(why_not_given_libraries(program(elf("/lib/ld-musl-x86_64.so.1"))),
              HasSubstr("a Python for glibc"));
}

TEST_F(ProgramCheck, OfWhatIsNoProgramNothingIsSaid) {
  EXPECT_THAT(why_not_given_libraries(folder_.path() + "/none"), IsEmpty());
  EXPECT_THAT(why_not_given_libraries(program("#!/bin/sh\n")), IsEmpty());
  EXPECT_THAT(why_not_given_libraries(program("\x7f"
                                              "ELF")),
              IsEmpty());
  const std::string whole = elf("/lib/ld-musl-x86_64.so.1");
  for (std::size_t bytes = 0; bytes < whole.size() - 1; ++bytes) {
    EXPECT_THAT(why_not_given_libraries(program(whole.substr(0, bytes))), IsEmpty()) << bytes;
  }
  std::string boundless = whole;
  const std::uint64_t far = ~0ULL / 2;
  std::memcpy(boundless.data() + offsetof(Elf64_Ehdr, e_phoff), &far, sizeof(far));
  EXPECT_THAT(why_not_given_libraries(program(boundless)), IsEmpty());
}

/// A Python that answers the look at its torch with these lines.
std::string python_that_says(const TestFolder& folder, const std::string& lines) {
  const std::string path = folder.path() + "/python3";
  std::ofstream(path) << "#!/bin/sh\nprintf '" << lines << "'\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

TEST(TorchCheck, OneForTheCpuAloneIsNamedWithWhatToInstall) {
  const TestFolder folder;
  const std::string python = python_that_says(folder, "2.8.0+cpu\\n\\n\\n");
  const std::string reason = why_not_emulated({python, "train.py"});
  EXPECT_THAT(reason, HasSubstr("torch 2.8.0+cpu in " + python + " is built for the CPU alone"));
  EXPECT_THAT(reason, HasSubstr("pip install --no-deps --force-reinstall torch==2.8.0"));
}

TEST(TorchCheck, OneForRocmIsNamed) {
  const TestFolder folder;
  const std::string python = python_that_says(folder, "2.8.0+rocm6.4\\n\\n6.4.4\\n");
  EXPECT_THAT(why_not_emulated({python}), HasSubstr("built for ROCm 6.4.4"));
}

TEST(TorchCheck, OfOneForCudaAndOfNoneNothingIsSaid) {
  const TestFolder folder;
  EXPECT_THAT(why_not_emulated({python_that_says(folder, "2.8.0\\n12.8\\n\\n")}), IsEmpty());
  EXPECT_THAT(why_not_emulated({python_that_says(folder, "")}), IsEmpty());
  EXPECT_THAT(why_not_emulated({"no-such-program"}), IsEmpty());
  EXPECT_THAT(why_not_emulated({}), IsEmpty());
}

}  // namespace
}  // namespace unstarve::launch
