#include "diagnose/errors/xid_catalogue.h"

#include <algorithm>
#include <array>

namespace unstarve::diagnose {

namespace {

constexpr std::array<XidWords, 16> kCatalogue = {{
    {13, "graphics engine exception",
     "most often a kernel of the job's; run it under compute-sanitizer, and on another GPU"},
    {31, "GPU memory page fault",
     "most often a kernel of the job's; run it under compute-sanitizer, and on another GPU"},
    {43, "GPU stopped processing",
     "a fault of the job's; the GPU itself is well: start the job again"},
    {45, "preemptive cleanup",
     "it follows an earlier error, or the job was stopped: look for what came before"},
    {48, "double bit ECC error", "memory is failing: reset the GPU, and watch whether it returns"},
    {61, "internal micro-controller breakpoint", "reset the GPU; update the driver if it returns"},
    {62, "internal micro-controller halt", "reset the GPU; update the driver if it returns"},
    {63, "memory row remapped or page retired",
     "memory was repaired: reset the GPU when it is free"},
    {64, "memory row remapping or page retirement failed",
     "memory is failing: reset the GPU; have it replaced if it returns"},
    {74, "NVLink error", "reset the GPUs that it links; have the links checked if it returns"},
    {79, "GPU has fallen off the bus",
     "restart the machine; check its power, cooling and seat in the slot"},
    {92, "high rate of single bit ECC errors",
     "they were corrected; have the GPU checked if the rate stays"},
    {94, "contained memory error",
     "only this job was hit: start it again; reset the GPU when it is free"},
    {95, "uncontained memory error", "every job on the GPU may be hit: reset it"},
    {119, "GPU system processor did not answer",
     "reset the GPU; restart the machine if that fails; update the driver"},
    {120, "GPU system processor error",
     "reset the GPU; restart the machine if that fails; update the driver"},
}};

constexpr std::string_view kLookUp = "look it up in NVIDIA's catalogue of XIDs";

}  // namespace

XidWords words_of_xid(std::int64_t xid) {
  constexpr std::int64_t kUnknownToTheDriver = 999;
  if (xid == kUnknownToTheDriver) {
    return {xid, "an error that the driver does not know", "look into the kernel's log"};
  }
  const auto* const found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                         [xid](const XidWords& words) { return words.xid == xid; });
  return found != kCatalogue.end() ? *found : XidWords{xid, "", kLookUp};
}

}  // namespace unstarve::diagnose
