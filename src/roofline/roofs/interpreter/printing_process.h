#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::roofline {

/// A process that prints, found on PATH; what it says on stderr goes nowhere. It is killed and
/// waited for with the object.
///
///   auto process = PrintingProcess::start({"python3", "-c", script});
///   read(process->output(), ...); const int status = process->wait();
///
/// Thread rule: one thread.
class PrintingProcess {
 public:
  /// Errors: there is no such program, or the system gives no process.
  static Result<PrintingProcess> start(std::vector<std::string> words);
  PrintingProcess(PrintingProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), output_(std::move(other.output_)) {}
  PrintingProcess& operator=(PrintingProcess&&) = delete;
  ~PrintingProcess();

  int output() const { return output_.get(); }
  /// Its wait status, once it has ended by itself.
  int wait();

 private:
  PrintingProcess(pid_t pid, FileDescriptor output) : pid_(pid), output_(std::move(output)) {}
  pid_t pid_;  // 0: given away, or waited for
  FileDescriptor output_;
};

}  // namespace unstarve::roofline
