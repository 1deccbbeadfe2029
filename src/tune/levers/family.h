#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tune/levers/lever.h"

namespace unstarve::tune {

/// The group of torch.compile's ways: their first step takes minutes.
inline constexpr const char* kCompilers = "compile";

/// Of ways to get the system's memory.
inline constexpr const char* kAllocators = "allocator";

/// Of ways to compute attention.
inline constexpr const char* kAttentions = "attention";

/// Of ways to compute products with fewer bits.
inline constexpr const char* kPrecisions = "precision";

/// What the catalogue is made for.
struct TunedJob {
  std::string device;        // "cpu", "cuda"; as the hook saw it
  std::int64_t threads = 0;  // of torch, in the job as it is
  std::int64_t cpus = 1;     // that it may use
  std::int64_t interop_threads = 0;
  // Libraries of this machine that allocate memory in glibc's place: names, and where they are.
  std::map<std::string, std::string> allocators = {};
  std::vector<std::string> allowed = {};  // levers that are tried only if somebody allows it
  std::string optimizer = {};             // its class; empty: not known
  bool has_cudnn_attention = true;        // its torch

  bool on_gpu() const { return device == "cuda"; }
};

/// A lever of the hook, or several that set the same thing: one file in a folder here, which the
/// build finds by its name. A lever has its words, its bounds, what keeps it in a script and in
/// trainers' settings, and the hook's file of that name applies it.
struct LeverFamily {
  int order = 0;  // the least is tried first, where nobody knows what a step's time goes to
  /// Those that could be tried of it; empty: it is of another device.
  std::function<std::vector<Lever>(const TunedJob&)> offer;
};

/// The families of all files, in no order. The build writes this function.
std::vector<LeverFamily> all_lever_families();

/// A lever that the hook applies by its name.
Lever hook_lever(const std::string& name, Numerics numerics, Eases eases, const std::string& what,
                 const std::string& permanent);

/// These lines behind the script's first `import torch`, unless it uses a name that holds one of
/// `unless`, which might undo them.
script::ScriptEdit lines_edit(std::vector<std::string> lines, std::vector<std::string> unless);

}  // namespace unstarve::tune
