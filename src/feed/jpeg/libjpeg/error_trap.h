#pragma once

#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include "base/error.h"

namespace unstarve::feed {

/// Turns libjpeg's errors into a return value. libjpeg reports an error by calling error_exit,
/// which must not return: the trap jumps back to the call that entered libjpeg. Only libjpeg's own
/// frames are left that way.
///
///   JpegErrorTrap trap;
///   codec.err = trap.manager();
///   if (!trap.guarded([&] { jpeg_create_decompress(&codec); })) return fail(..., trap.message());
///
/// Warnings are errors too, but for those that leave the pixels as they should be and, with
/// accept_damaged(true), all but that of a file that ends early. Nothing is ever printed.
/// Stays where it is while a codec uses it. Thread rule: one thread at a time.
class JpegErrorTrap {
 public:
  JpegErrorTrap();
  JpegErrorTrap(const JpegErrorTrap&) = delete;
  JpegErrorTrap& operator=(const JpegErrorTrap&) = delete;

  jpeg_error_mgr* manager() { return &manager_; }
  void accept_damaged(bool accept) { accept_damaged_ = accept; }
  const char* message() const { return message_.data(); }
  /// What the last error is: for want of memory, or what the caller says of the file.
  ErrorCode code_or(ErrorCode of_the_file) const {
    return out_of_memory_ ? ErrorCode::kOutOfMemory : of_the_file;
  }

  /// Runs `body`, which calls libjpeg; false when it ended in libjpeg's error exit. Nothing in
  /// `body` that is alive during a call of libjpeg may need its destructor.
  template <class Body>
  bool guarded(Body body) {
    if (setjmp(back_) != 0) return false;  // NOLINT(cert-err52-cpp): libjpeg's interface
    body();
    return true;
  }

 private:
  friend class JpegScanLimit;
  static JpegErrorTrap& of(j_common_ptr codec);
  [[noreturn]] static void on_error(j_common_ptr codec);
  static void on_message(j_common_ptr codec, int level);

  jpeg_error_mgr manager_ = {};  // first, so that its address is the trap's
  std::jmp_buf back_ = {};
  bool accept_damaged_ = false;
  bool out_of_memory_ = false;
  std::array<char, JMSG_LENGTH_MAX> message_ = {};
};

}  // namespace unstarve::feed
