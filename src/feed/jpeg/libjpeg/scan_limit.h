#pragma once

#include "feed/jpeg/libjpeg/error_trap.h"

namespace unstarve::feed {

/// Ends the reading of a progressive JPEG with more scans than that, each of which costs a pass
/// over the whole image. `codec.progress = limit.manager()`; the codec's errors go to a trap.
class JpegScanLimit {
 public:
  explicit JpegScanLimit(int max_scans);
  JpegScanLimit(const JpegScanLimit&) = delete;
  JpegScanLimit& operator=(const JpegScanLimit&) = delete;

  jpeg_progress_mgr* manager() { return &manager_; }

 private:
  static void on_progress(j_common_ptr codec);

  jpeg_progress_mgr manager_ = {};  // first, as above
  int max_scans_ = 0;
};

}  // namespace unstarve::feed
