#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::trace {

/// What the Python of one thread was seen to do, in words of the hook (docs/formats/run.md). What
/// it did not say is empty. Places are relative to the directory in which the job started.
struct Stack {
  bool in_fetch = false;      // of a batch from the data set
  bool in_wait = false;       // in the loader's `__next__`
  bool in_collate = false;    // in a fetch
  bool in_decode = false;     // of an image
  bool in_jpeg = false;       // ... that Pillow has opened as a JPEG
  bool in_png = false;        // ... as a PNG
  bool in_order = false;      // in the loader's sampler, which is the job's own
  bool in_sync = false;       // in `.item()` and its like, on the device's tensors
  std::string line = {};      // innermost one of the job's own: "train.py:57"; a fetch's: inside it
  std::string function = {};  // that the line is in
  std::string call = {};      // what runs there, as it is written: "loss.item()"
  std::string without_wait = {};          // lines with "-" and "+": that line, reading nothing back
  std::string callee = {};                // a library's function it called: "queue.py get"
  std::string top = {};                   // the innermost function at all, where it is another one
  std::vector<std::string> callers = {};  // the job's functions around it, from inside to outside
  std::string transform = {};             // the class of a sample's transform: "RandAugment"
  std::string transform_place = {};       // where the job names that class
};

/// `text` may hold anything: what is not as expected counts as not said.
Stack parse_stack(std::string_view text);

/// One look at a thread.
struct StackSample {
  std::int64_t t_ns = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t period_ns = 0;  // to the next one, in the mean: the time that it stands for
  std::int64_t late_ns = 0;    // how long it waited for Python's lock, or for a CPU
  std::uint32_t stack = 0;     // an index into Timeline::stacks
};

/// One look at what a thread's Python does; see StackSample. A row of a run.
struct StackRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  std::int64_t t_ns = 0;
  std::int64_t period_ns = 0;
  std::int64_t late_ns = 0;
};

}  // namespace unstarve::trace
