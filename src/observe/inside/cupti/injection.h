#pragma once

#include <cstddef>
#include <cstdint>

#define UNSTARVE_CUPTI_EXPORT __attribute__((visibility("default")))

/// The functions of libunstarve_cupti.so. None throws, prints or ends the process.
extern "C" {
/// Called by the CUDA driver at its initialisation where CUDA_INJECTION64_PATH names this library.
/// Begins to record where UNSTARVE_RUN_DIR names a run. Always 1: CUDA goes on in any case.
UNSTARVE_CUPTI_EXPORT int InitializeInjection(void);

/// Somebody else in the process will use CUPTI: gives it free until resume() was called as often.
UNSTARVE_CUPTI_EXPORT void unstarve_cupti_pause(void);
UNSTARVE_CUPTI_EXPORT void unstarve_cupti_resume(void);

/// The job's first step has just ended; a step takes so long in the mean. Windows follow it.
UNSTARVE_CUPTI_EXPORT void unstarve_cupti_steps_began(void);
UNSTARVE_CUPTI_EXPORT void unstarve_cupti_step_takes(std::int64_t step_ns);

/// 1 while it records, or would in a window; else 0, and why not in `text`, which holds `size`
/// bytes.
UNSTARVE_CUPTI_EXPORT int unstarve_cupti_state(char* text, std::size_t size);
}
