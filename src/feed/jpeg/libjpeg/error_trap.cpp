#include "feed/jpeg/libjpeg/error_trap.h"

// After jpeglib.h, which it builds on.
#include <jerror.h>

namespace unstarve::feed {
namespace {

/// Warnings that leave the pixels as they should be.
bool is_harmless(int message) {
  return message == JWRN_ADOBE_XFORM || message == JWRN_EXTRANEOUS_DATA ||
         message == JWRN_NOT_SEQUENTIAL || message == JWRN_TOO_MUCH_DATA ||
         message == JWRN_JFIF_MAJOR;
}

void print_nothing(j_common_ptr) {}

}  // namespace

JpegErrorTrap::JpegErrorTrap() {
  jpeg_std_error(&manager_);
  manager_.error_exit = on_error;
  manager_.emit_message = on_message;
  manager_.output_message = print_nothing;
}

JpegErrorTrap& JpegErrorTrap::of(j_common_ptr codec) {
  return *reinterpret_cast<JpegErrorTrap*>(codec->err);
}

void JpegErrorTrap::on_error(j_common_ptr codec) {
  JpegErrorTrap& trap = of(codec);
  trap.out_of_memory_ = codec->err->msg_code == JERR_OUT_OF_MEMORY;
  (*codec->err->format_message)(codec, trap.message_.data());
  std::longjmp(trap.back_, 1);
}

void JpegErrorTrap::on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // a trace message
  const int message = codec->err->msg_code;
  if (is_harmless(message)) return;
  if (of(codec).accept_damaged_ && message != JWRN_JPEG_EOF) return;
  on_error(codec);
}

}  // namespace unstarve::feed
