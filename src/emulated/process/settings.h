#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// What the process was told to emulate: the file that UNSTARVE_EMULATED_GPU names
/// (docs/formats/emulation_settings.md), and what CUDA_VISIBLE_DEVICES leaves of it.
struct Settings {
  Profile profile;
  int gpus = 1;                 // of the machine, seen by this process or not
  std::vector<int> visible;     // numbers of the machine's GPUs, in the process's order
  std::string durations;        // path of a table; empty: none
  double scale = 1;             // of every duration
  std::int64_t step_ns = 0;     // what a step takes, if that is known: a factor is found by it
  std::int64_t true_every = 0;  // of single bytes that the host reads, each N-th is 1; 0: none
  std::vector<Profile> priced;  // kinds for which every kernel's duration is added up as well
  std::string state_folder;
  std::string rings_folder;
};

/// kNotFound: the environment names no file.
Result<Settings> read_settings();

/// The GPUs that CUDA_VISIBLE_DEVICES lets a process see of `gpus`: numbers or the beginnings of
/// UUIDs, up to the first that names none; nullptr: all.
std::vector<int> visible_gpus(int gpus, const char* variable);

/// "GPU-..." of a GPU of the machine: the same on every machine.
std::string uuid_text(int machine_index);

}  // namespace unstarve::emulated
