#pragma once

namespace unstarve::emulated {

/// What the driver does when it is initialised: loads the library that CUDA_INJECTION64_PATH names
/// and calls its InitializeInjection(), once in a process. Profilers are brought in that way. A
/// library that cannot be loaded is left out without a word, as the driver does.
/// Thread rule: any thread, with no lock of ours held: the library may use CUDA at once. Others
/// wait until it is in.
void load_injection();

}  // namespace unstarve::emulated
