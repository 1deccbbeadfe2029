#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/live/live_job.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The jobs as lines of at most the options' width, without newlines: for each its name and state,
/// what its time goes to, and curves of its GPUs, waits and CPUs. `lines`: how many there is room
/// for; what does not fit is counted in the last one. 0: any number.
std::vector<std::string> render_jobs(std::span<const LiveJob> jobs, const TextOptions& options,
                                     int lines);

/// "waits for data 74 %, GPU busy 22 %, 812 samples/s": what the job's time goes to, or why nothing
/// can be said of it now.
std::string live_sentence(const LiveJob& job);

/// GPUs that no watched job has, a line each below a heading; none where there are none.
std::vector<std::string> render_other_gpus(std::span<const OtherGpu> gpus,
                                           const TextOptions& options);

/// What the hook logs into the job's own tracker (`run --track`): one JSON object of at most 20
/// values by their keys there, and what is said of the job. What is not known has no key.
std::string tracked_json(const LiveJob& job);

/// One JSON object (docs/formats/top.md). `others`: null where nobody looked for such GPUs.
std::string live_json(std::span<const LiveJob> jobs, const std::vector<OtherGpu>* others = nullptr);

}  // namespace unstarve::report
