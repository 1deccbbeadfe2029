#pragma once

#include <cstdint>
#include <string_view>

namespace unstarve::observe {

/// What an event's `cat` says, over all the names that profilers have used for it.
enum class EventCategory : std::uint8_t {
  kOther,       // not needed
  kKernel,      // kernel, Kernel
  kCopy,        // gpu_memcpy, Memcpy
  kMemset,      // gpu_memset, Memset
  kHostCall,    // cuda_runtime, cuda_driver, Runtime, hip_runtime, ...
  kAnnotation,  // user_annotation, cpu_op, Operator: only steps and loader waits among them
  kMtia,        // work of devices that are named and not judged: mtia_ccp_events, mtia_runtime, ...
  kHpu,         // hpu_op
};

EventCategory parse_category(std::string_view category);

/// True for the annotations that are kept: "ProfilerStep#12",
/// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool is_step_name(std::string_view name);
bool is_loader_wait_name(std::string_view name);

/// Looks at the first simple members of an event, given as JSON, and says whether the rest has to
/// be read at all. May say yes to an event that is not needed, never no to one that is.
bool worth_reading(std::string_view event_json);

}  // namespace unstarve::observe
