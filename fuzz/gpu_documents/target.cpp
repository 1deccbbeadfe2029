#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulated/duration/duration_model.h"

/// A profile and a table of durations may be anybody's files, and a kernel's name any text: nothing
/// crashes, and what is accepted gives durations that are positive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve::emulated;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto plain = DurationModel::create(*find_profile("a100"));
  if (plain->duration_ns(KernelWork{.name = text}) <= 0) return -1;
  if (const auto profile = parse_profile(text)) {
    const auto model = DurationModel::create(*profile);
    if (model->duration_ns(MatmulWork{64, 64, 64}) <= 0) return -1;
    if (model->duration_ns(ConvolutionWork{}) <= 0) return -1;
  }
  if (auto recording = parse_recording(text)) {
    DurationTable::create(*std::move(recording))->find_kernel("f");
  }
  return 0;
}
