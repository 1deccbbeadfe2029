#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/number_words.h"
#include "base/shell_word.h"
#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "device/monitor/open_gpu_monitor.h"
#include "emulated/profile/profile.h"
#include "host/cgroup.h"
#include "host/code_samples.h"
#include "host/effective_cpus.h"
#include "host/host_files.h"
#include "launch/emulation/program_check.h"
#include "launch/installation.h"
#include "launch/job_python.h"
#include "report/terminal/terminal.h"
#include "report/words/json_text.h"
#include "report/words/words.h"

namespace unstarve::cli {

namespace {

struct DoctorOptions {
  bool json = false;
  std::string python;
  std::vector<std::string> command;
};

/// One thing that can or cannot be observed here.
struct Check {
  std::string what;  // "GPU monitor"
  bool works = false;
  std::string found;   // what it is, or why it is not there
  std::string advice;  // what to do about it; empty when there is nothing to do
};

/// A line for the mode and for each instance, where the GPU can be split.
void add_mig(const device::GpuDescription& gpu, std::vector<Check>& checks) {
  if (!gpu.mig_mode) return;
  const std::size_t count = gpu.instances.size();
  checks.push_back({fmt::format("GPU {} MIG", gpu.index), true,
                    *gpu.mig_mode ? fmt::format("on, {} instance{}", count, count == 1 ? "" : "s")
                                  : std::string("off"),
                    *gpu.mig_mode && count == 0 ? "CUDA finds no device: make an instance" : ""});
  for (std::size_t i = 0; i < count; ++i) {
    const device::MigInstance& instance = gpu.instances[i];
    std::string found = instance.uuid;
    if (instance.slices) found += fmt::format(", {} of 7 slices", *instance.slices);
    if (const auto& memory = instance.total_memory_bytes) {
      found += ", " + bytes_text(static_cast<double>(*memory));
    }
    if (gpu.job_instance == i) found += " (a job started here gets it)";
    checks.push_back(
        {fmt::format("GPU {} instance {}", gpu.index, instance.index), true, found, ""});
  }
}

std::vector<Check> check_readings(const device::GpuDescription& gpu,
                                  const device::GpuReadings& readings) {
  std::vector<Check> checks;
  const auto note = [&](const char* reading, bool works, WhyAbsent why, const char* advice) {
    checks.push_back({fmt::format("GPU {} {}", gpu.index, reading), works,
                      works ? "readable" : std::string(to_string(why)), works ? "" : advice});
  };
  const bool split = gpu.mig_mode.value_or(false);
  note("utilisation", readings.utilization_ratio.has_value(),
       readings.utilization_ratio.why_absent(),
       split ? "the GPU is in MIG mode: NVML gives no utilisation of its instances; records of "
               "CUPTI and torch.profiler still do"
             : "");
  note("power", readings.power_w.has_value(), readings.power_w.why_absent(), "");
  note("SM activity (GPM)", readings.sm_activity_ratio.has_value(),
       readings.sm_activity_ratio.why_absent(), "needs a Hopper or later GPU");
  note("errors (XID)", readings.xid_errors.has_value(), readings.xid_errors.why_absent(),
       "the kernel's log may have them: dmesg | grep Xid");
  return checks;
}

std::vector<Check> check_gpu() {
  const SteadyClock clock;
  device::GpuMonitorOptions here;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) here.visible_devices = visible;
  const auto monitor = device::open_gpu_monitor(here, clock);
  if (!monitor) {
    return {{"GPU monitor", false, monitor.error().message, "install the NVIDIA driver"}};
  }
  const auto devices = (*monitor)->enumerate();
  if (!devices || devices->empty()) {
    const std::string why = devices ? (*monitor)->source() : devices.error().message;
    return {
        {"GPU monitor", false, why,
         "`unstarve emulate a100 -- COMMAND` runs jobs without one; in a container start it with "
         "--gpus all"}};
  }
  std::vector<Check> checks;
  for (const device::GpuDescription& gpu : *devices) {
    const auto readings = (*monitor)->read(gpu.index);
    if (!readings) {
      checks.push_back({fmt::format("GPU {}", gpu.index), false, readings.error().message, ""});
      continue;
    }
    checks.push_back({fmt::format("GPU {}", gpu.index), true, gpu.name, ""});
    add_mig(gpu, checks);
    for (Check& check : check_readings(gpu, *readings)) checks.push_back(std::move(check));
  }
  return checks;
}

/// Whether it can be told whose compiled code a job's fetches run.
Check check_code_samples() {
  constexpr std::int64_t kPeriodNs = 20'000'000;
  constexpr const char* kWhat = "compiled code (perf)";
  const auto samples = host::open_code_samples(::getpid(), kPeriodNs);
  if (samples) return {kWhat, true, "libraries that fetches run in can be named", ""};
  return {kWhat, false, samples.error().message,
          "sysctl kernel.perf_event_paranoid=2; in a container start it with --cap-add PERFMON"};
}

std::vector<Check> check_host(const host::HostFiles& files) {
  std::vector<Check> checks;
  if (const auto cpus = host::effective_cpus(files)) {
    checks.push_back({"CPUs", true,
                      fmt::format("{} usable ({} cores, bound by {})", cpus->count, cpus->cores,
                                  host::to_string(cpus->bound)),
                      ""});
  } else {
    checks.push_back({"CPUs", false, cpus.error().message, "mount /proc"});
  }
  const bool pressure = files.exists("/proc/pressure/cpu");
  checks.push_back({"pressure (PSI)", pressure,
                    pressure ? "/proc/pressure" : "the kernel offers no /proc/pressure",
                    pressure ? "" : "boot with psi=1 to tell waiting for storage from computing"});
  const bool unified = files.exists("/sys/fs/cgroup/cgroup.controllers");
  const bool legacy = files.exists("/sys/fs/cgroup/cpu");
  checks.push_back({"cgroup", unified || legacy,
                    unified  ? "version 2"
                    : legacy ? "version 1"
                             : "no cgroup file system",
                    unified || legacy ? "" : "CPU quotas cannot be seen"});
  checks.push_back(check_code_samples());
  return checks;
}

void add_torch(const launch::TorchBuild& torch, std::vector<Check>& checks) {
  if (torch.version.empty()) {
    checks.push_back({"PyTorch", false, "not installed there",
                      "jobs need it; is this the Python that they run in? (--python)"});
    return;
  }
  const std::string built = torch.platform.empty() ? "the CPU alone" : torch.platform;
  checks.push_back({"PyTorch", true, fmt::format("{}, for {}", torch.version, built),
                    torch.has_cuda ? "" : launch::how_to_install_cuda(torch)});
}

/// Whether jobs can be run without a GPU.
Check check_emulation(const launch::Installation& parts) {
  if (parts.emulated_libraries.empty()) {
    return {"emulated GPUs", false, "the libraries were not found beside this program",
            "install the Python package: pip install ."};
  }
  return {"emulated GPUs", true, fmt::format("{}", fmt::join(emulated::profile_names(), ", ")), ""};
}

/// Whether what a job's GPUs do can be recorded.
Check check_recorder(const launch::Installation& parts) {
  if (parts.cupti_library.empty()) {
    return {"GPU recorder (CUPTI)", false, "libunstarve_cupti.so was not found beside this program",
            "install the Python package: pip install ."};
  }
  if (const std::string taken = launch::cupti_taken_by(parts); !taken.empty()) {
    return {"GPU recorder (CUPTI)", false, taken + " is set: CUPTI is left to that tool",
            "unset it for `unstarve run`"};
  }
  return {"GPU recorder (CUPTI)", true, parts.cupti_library, ""};
}

std::vector<Check> check_python(const launch::Installation& parts, const launch::JobPython& job) {
  std::vector<Check> checks;
  checks.push_back({"Python hook", !parts.hook_dir.empty(),
                    parts.hook_dir.empty() ? "not found beside this program" : parts.hook_dir,
                    parts.hook_dir.empty() ? "install the Python package: pip install ." : ""});
  if (job.program.empty()) {
    checks.push_back({"Python", false, job.chosen, "activate the job's environment, or --python"});
    return checks;
  }
  const std::string python = shell_word(job.program);
  const std::string version =
      launch::output_of(python + " -c 'import platform; print(platform.python_version())'");
  checks.push_back({"Python", !version.empty(),
                    fmt::format("{} {} ({})", job.program,
                                version.empty() ? "does not run" : version, job.chosen),
                    version.empty()
                        ? "activate the job's environment, or name an interpreter by --python"
                        : ""});
  if (version.empty()) return checks;
  add_torch(launch::look_at_torch(job.program), checks);
  const std::string native =
      launch::output_of("PYTHONPATH=" + shell_word(parts.package_dir) + " " + python +
                        " -c 'import unstarve._native as n; print(n.__file__)'");
  checks.push_back({"unstarve's loader", !native.empty(),
                    native.empty() ? "its compiled module cannot be imported" : native,
                    native.empty() ? "build it for this Python: make build" : ""});
  return checks;
}

Check check_folder() {
  struct statvfs space {};
  const bool writable = ::access(".", W_OK) == 0 && ::statvfs(".", &space) == 0;
  if (!writable) {
    return {"run folder", false, "the current folder cannot be written",
            "give `unstarve run --out DIR` another"};
  }
  const double free_gb =
      static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) / 1e9;
  return {"run folder", true, fmt::format("./runs, {:.0f} GB free", free_gb), ""};
}

std::string render(const std::vector<Check>& checks) {
  const report::TextOptions options = text_options(Stream::kOut);
  std::string text;
  for (const Check& check : checks) {
    const std::string mark = check.works ? report::paint("ok  ", report::Tone::kGood, options)
                                         : report::paint("none", report::Tone::kNotice, options);
    text += mark + "  " + report::pad_right(check.what, 24) + check.found + "\n";
    if (!check.advice.empty()) {
      text += report::hanging(std::string(30, ' ') + (options.unicode ? "→ " : "-> "), check.advice,
                              options);
    }
  }
  return text;
}

std::string render_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    list.push_back({{"what", check.what},
                    {"works", check.works},
                    {"found", check.found},
                    {"advice", check.advice}});
  }
  const nlohmann::ordered_json document = {{"schema", "unstarve.doctor/1"}, {"checks", list}};
  return report::json_text(document);
}

void run_doctor(const CommandContext& context, const DoctorOptions& options) {
  const host::HostFiles files;
  const launch::Installation parts = launch::find_installation(context.executable);
  std::vector<Check> checks = check_gpu();
  const auto add = [&checks](std::vector<Check> more) {
    for (Check& check : more) checks.push_back(std::move(check));
  };
  checks.push_back(check_recorder(parts));
  checks.push_back(check_emulation(parts));
  add(check_host(files));
  add(check_python(parts, launch::find_job_python(options.python, options.command)));
  checks.push_back(check_folder());
  write_text(Stream::kOut, options.json ? render_json(checks) : render(checks));
}

}  // namespace

void add_doctor_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "doctor", "say what can be observed on this machine, what not, why, and what to do");
  auto options = std::make_shared<DoctorOptions>();  // lives as long as the parser's callback
  command.flag("--json", options->json, "print one JSON object");
  command.option("--python", options->python,
                 "the job's interpreter (default: the command's, else the first on PATH)");
  command.option("COMMAND", options->command, "the job, after --: it is not started");
  command.ends_with_words();
  command.when_named([&context, options] { run_doctor(context, *options); });
}

}  // namespace unstarve::cli
