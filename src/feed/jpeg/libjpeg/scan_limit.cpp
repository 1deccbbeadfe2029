#include "feed/jpeg/libjpeg/scan_limit.h"

namespace unstarve::feed {

JpegScanLimit::JpegScanLimit(int max_scans) : max_scans_(max_scans) {
  manager_.progress_monitor = on_progress;
}

void JpegScanLimit::on_progress(j_common_ptr codec) {
  const auto* decompressor = reinterpret_cast<j_decompress_ptr>(codec);
  const auto& limit = *reinterpret_cast<const JpegScanLimit*>(codec->progress);
  if (decompressor->input_scan_number <= limit.max_scans_) return;
  JpegErrorTrap& trap = JpegErrorTrap::of(codec);
  trap.out_of_memory_ = false;
  std::snprintf(trap.message_.data(), trap.message_.size(), "more than %d scans", limit.max_scans_);
  std::longjmp(trap.back_, 1);
}

}  // namespace unstarve::feed
