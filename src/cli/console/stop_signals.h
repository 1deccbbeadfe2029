#pragma once

#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::cli {

/// SIGINT, SIGTERM and SIGHUP as an answer to a question, for work that ends by itself where it is
/// asked to: from open() on they do nothing else, in threads that are started later neither.
/// Thread rule: open it in the first thread, before there are others; ask in one thread.
class StopSignals {
 public:
  static Result<StopSignals> open();
  /// Whether one has come by now.
  bool came();

 private:
  explicit StopSignals(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
  bool came_ = false;
};

}  // namespace unstarve::cli
