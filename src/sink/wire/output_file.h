#pragma once

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace unstarve::sink {

/// A file that grows, or standard output.
class OutputFile {
 public:
  /// `target`: a path, whose file is made or emptied, or "-" for standard output.
  static Result<OutputFile> open(const std::string& target) {
    if (target == "-") return OutputFile(File(stdout), "standard output");
    File file(std::fopen(target.c_str(), "we"));
    if (!file) return fail_errno(errno, "cannot write " + target);
    return OutputFile(std::move(file), target);
  }

  Status write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
    return fail_errno(errno, "cannot write " + target_);
  }
  /// What was written is in the file then.
  Status flush() {
    if (std::fflush(file_.get()) == 0) return {};
    return fail_errno(errno, "cannot write " + target_);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  OutputFile(File file, std::string target) : file_(std::move(file)), target_(std::move(target)) {}

  File file_;
  std::string target_;
};

}  // namespace unstarve::sink
