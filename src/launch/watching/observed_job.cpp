#include "launch/watching/observed_job.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/shell_word.h"
#include "base/unique_handle.h"
#include "device/monitor/open_gpu_monitor.h"
#include "host/host_files.h"
#include "host/process_identity.h"
#include "host/process_names.h"
#include "isolation/trial_processes.h"
#include "launch/run_folder.h"
#include "launch/watching/circumstances.h"
#include "observe/outside/observation.h"
#include "trace/run_writer.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTickNs = 250'000'000;

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";

/// Whoever keeps the hook's looks out of a job keeps those from outside out of it too.
observe::SamplerOptions sampler_options() {
  observe::SamplerOptions options;
  const char* const stacks = std::getenv("UNSTARVE_STACKS");
  if (stacks != nullptr && std::string_view(stacks) == "off") options.code_period_ns = 0;
  return options;
}

/// As the job will have it.
std::optional<std::string> visible_devices(const ObservedJobOptions& options) {
  for (const auto& [name, value] : options.environment) {
    if (name == kVisibleDevices) return value;
  }
  const char* const ours = std::getenv(kVisibleDevices.data());
  return ours != nullptr ? std::optional<std::string>(ours) : std::nullopt;
}

/// As a process got it when it started.
std::optional<std::string> visible_devices(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    const std::size_t equals = entry.find('=');
    if (entry.compare(0, equals, kVisibleDevices) == 0 && equals != entry.npos) {
      return entry.substr(equals + 1);
    }
  }
  return std::nullopt;
}

/// The GPU monitor for this run: the driver's, or the one of the emulated GPUs that it runs on. The
/// latter looks where the job's processes look, since it is in this process: also where it was not
/// we who began the emulation, but `unstarve emulate -- unstarve run`.
Result<std::unique_ptr<device::GpuMonitor>> open_monitor(
    const Installation& parts, const Emulation* emulation,
    const std::optional<std::string>& visible_devices, const Clock& clock) {
  device::GpuMonitorOptions options;
  options.visible_devices = visible_devices;
  if (emulation != nullptr) {
    ::setenv("UNSTARVE_EMULATED_GPU", emulation->settings_file().c_str(), 1);
    options.nvml_path = parts.emulated_libraries + "/libnvidia-ml.so.1";
  }
  return device::open_gpu_monitor(options, clock);
}

/// The folder's name; "runs/a/" is "a", as "runs/a" is.
std::string run_name(const std::string& run_dir) {
  const fs::path folder = fs::absolute(run_dir).lexically_normal();
  return folder.has_filename() ? folder.filename().string()
                               : folder.parent_path().filename().string();
}

trace::RunInfo describe_run(const std::string& run_dir, const std::vector<std::string>& command,
                            const Clock& clock) {
  trace::RunInfo info;
  info.run_id = run_name(run_dir);
  info.command = command;
  info.started_wall_ns = wall_time_ns();
  info.started_ns = clock.now_ns();
  utsname system{};
  if (::uname(&system) == 0) info.host = system.nodename;
  info.device_kind = "absent";
  info.unstarve_version = UNSTARVE_VERSION;
  // By it others see whether a run that has no end goes on, or its watcher was killed.
  if (const auto ours = host::own_identity(host::HostFiles())) info.watcher = host::to_text(*ours);
  return info;
}

/// The command, through a shell that only redirects and then becomes it.
std::vector<std::string> redirected(const ObservedJobOptions& options,
                                    const std::vector<std::string>& command) {
  if (options.output_file.empty()) return command;
  // One that would ask somebody waits for ever, or is stopped by the terminal.
  const std::string output = shell_word(fs::absolute(options.output_file).string());
  std::vector<std::string> redirecting = {"/bin/sh", "-c",
                                          "exec \"$@\" >" + output + " 2>&1 </dev/null", "sh"};
  redirecting.insert(redirecting.end(), command.begin(), command.end());
  return redirecting;
}

observe::JobOptions job_options(const Installation& parts, const ObservedJobOptions& options,
                                const isolation::IsolatedTrial* isolated) {
  observe::JobOptions job;
  job.command = redirected(options, isolated != nullptr ? isolated->command() : options.command);
  job.run_dir = fs::absolute(options.run_dir).string();
  job.hook_dir = parts.hook_dir;
  if (isolated != nullptr) {
    job.environment = isolated->environment();
    job.enter = isolated->entry();
  }
  job.environment.insert(job.environment.end(), options.environment.begin(),
                         options.environment.end());
  job.own_process_group = options.own_process_group;
  if (options.emulation != nullptr) {
    const auto& more = options.emulation->environment();
    job.environment.insert(job.environment.end(), more.begin(), more.end());
  }
  if (!parts.looks_library.empty()) {
    job.environment.emplace_back("UNSTARVE_LOOKS_LIBRARY",
                                 fs::absolute(parts.looks_library).string());
  }
  if (!parts.cupti_library.empty() && cupti_taken_by(parts).empty()) {
    // The CUDA driver loads it when the job initialises CUDA.
    job.environment.emplace_back("CUDA_INJECTION64_PATH",
                                 fs::absolute(parts.cupti_library).string());
  }
  return job;
}

/// Of what a trial started, and what still runs at its end.
std::size_t kill_all(isolation::IsolatedTrial* isolated, const isolation::TrialMarks& marks) {
  return isolated != nullptr ? isolated->kill() : isolation::kill_processes_of(marks);
}

/// A job, until its end: asked to stop, told to, killed.
class Waiting {
 public:
  Waiting(observe::JobProcess& job, const ObservedJobOptions& options,
          isolation::IsolatedTrial* isolated)
      : job_(job), options_(options), isolated_(isolated) {
    marks_.run_dir = fs::absolute(options.run_dir).string();
    if (options.own_process_group) marks_.group = ::getpgid(job.pid());
  }

  Result<observe::JobExit> wait(observe::Observation& watching, ObservedJob& observed) {
    while (true) {
      Result<std::optional<observe::JobExit>> end = job_.wait_for(kTickNs);
      if (!end) return forward_error(end);
      if (*end) return **end;
      bool go_on = goes_on(watching);
      if (go_on && isolated_ != nullptr && asked_ns_ == 0) {
        if (const Status fine = isolated_->check(); !fine) {
          observed.stopped_for = fine.error();
          go_on = false;
        }
      }
      if (!go_on || asked_ns_ != 0) stop(observed);
    }
  }

  /// Of a trial: what lives longer than it would use the machine in the next one.
  void end(ObservedJob& observed) {
    if (is_trial()) observed.left_over = kill_all(isolated_, marks_);
  }

 private:
  /// Whoever shows the job may fail; the job is watched to its end all the same.
  bool goes_on(observe::Observation& watching) {
    if (!options_.on_tick) return true;
    try {
      return options_.on_tick(watching.live());
    } catch (const std::exception&) {
      return true;
    }
  }

  bool is_trial() const { return options_.own_process_group || isolated_ != nullptr; }

  /// A signal that cannot be delivered means that the job has just ended: the next wait tells.
  void stop(ObservedJob& observed) {
    const std::int64_t now_ns = clock_.now_ns();
    if (asked_ns_ == 0) {
      asked_ns_ = now_ns;
      observed.stopped_by_us = true;
      static_cast<void>(job_.request_stop(SIGINT));
    } else if (is_trial() && now_ns - asked_ns_ > 2 * options_.patience_ns) {
      observed.killed = true;
      kill_all(isolated_, marks_);
    } else if (now_ns - asked_ns_ > options_.patience_ns) {
      static_cast<void>(job_.request_stop(SIGTERM));
    }
  }

  const SteadyClock clock_;
  observe::JobProcess& job_;
  const ObservedJobOptions& options_;
  isolation::IsolatedTrial* isolated_;
  isolation::TrialMarks marks_;
  std::int64_t asked_ns_ = 0;
};

/// Until the process is gone, nobody holds the other end of `leave_fd`, or a signal asks us to.
void wait_for_leave(const AttachOptions& options, int signals) {
  // Nobody tells us of the end of a process that is no child of ours.
  constexpr int kLookAgainMs = 250;
  pollfd wanted[] = {{signals, POLLIN, 0}, {options.leave_fd, POLLIN, 0}};
  while (::kill(options.pid, 0) == 0 || errno == EPERM) {
    if (::poll(wanted, 2, kLookAgainMs) < 0 && errno != EINTR) return;
    if (wanted[0].revents != 0) return;
    if (wanted[1].revents == 0) continue;
    char passed_over[64];
    const ssize_t got = ::read(options.leave_fd, passed_over, sizeof(passed_over));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return;
  }
}

}  // namespace

Result<observe::ObservationReport> watch_process(const Installation& parts,
                                                 const AttachOptions& options) {
  if (options.pid <= 0 || (::kill(options.pid, 0) != 0 && errno != EPERM)) {
    return fail(ErrorCode::kNotFound, "there is no process {}", options.pid);
  }
  const SteadyClock clock;
  const host::HostFiles files;
  auto writer = trace::RunWriter::create(
      options.run_dir, describe_run(options.run_dir, host::command_of(options.pid, files), clock),
      {});
  if (!writer) return forward_error(writer);
  (*writer)->put("attached_pid", std::to_string(options.pid));
  auto monitor = open_monitor(parts, nullptr, visible_devices(options.pid), clock);
  if (!monitor) return forward_error(monitor);

  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const FileDescriptor signals(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));

  observe::SamplerWiring sampler;
  sampler.clock = &clock;
  sampler.files = &files;
  sampler.gpus = monitor->get();
  sampler.writer = writer->get();
  auto watching = observe::Observation::start(sampler, sampler_options(), options.pid);
  if (!watching) return forward_error(watching);
  if (options.on_watching) options.on_watching();
  wait_for_leave(options, signals.get());
  observe::ObservationReport report = (*watching)->stop();
  if (const Status finished = (*writer)->finish(clock.now_ns(), 0); !finished) {
    report.remarks.push_back(finished.error().message);
  }
  return report;
}

namespace {

using RunWriterPointer = std::unique_ptr<trace::RunWriter>;

Result<RunWriterPointer> begin_run(const ObservedJobOptions& options, const Clock& clock) {
  auto writer = trace::RunWriter::create(options.run_dir,
                                         describe_run(options.run_dir, options.command, clock), {});
  if (!writer) return writer;
  if (options.emulation != nullptr) {
    (*writer)->put("emulated_durations", options.emulation->durations_from());
  }
  if (!options.stage.empty()) (*writer)->put("stage", options.stage);
  return writer;
}

Result<std::optional<isolation::IsolatedTrial>> begin_isolation(const ObservedJobOptions& options) {
  std::optional<isolation::IsolatedTrial> trial;
  if (options.isolation == nullptr) return trial;
  isolation::Environment environment = options.environment;
  if (options.emulation != nullptr) {
    const auto& more = options.emulation->environment();
    environment.insert(environment.end(), more.begin(), more.end());
  }
  auto begun = options.isolation->begin(fs::absolute(options.run_dir).string(), options.command,
                                        environment, options.changes);
  if (!begun) return forward_error(begun);
  trial.emplace(*std::move(begun));
  return trial;
}

/// What a trial leaves is dropped, and told is what was refused in its last moments too.
void end_isolation(isolation::IsolatedTrial* trial, ObservedJob& observed) {
  if (trial == nullptr) return;
  if (const Status fine = trial->check(); !fine) observed.stopped_for = fine.error();
  observed.read_only = trial->read_only();
  trial->end();
}

void end_run(const observe::JobExit& end, const Clock& clock, trace::RunWriter& writer,
             ObservedJob& observed) {
  observed.exit = end;
  if (end.signal) writer.put("exit_signal", std::to_string(*end.signal));
  if (observed.stopped_by_us) writer.put("stopped_by", "unstarve");
  if (const Status finished = writer.finish(clock.now_ns(), end.exit_code); !finished) {
    observed.watching.remarks.push_back(finished.error().message);
  }
}

}  // namespace

Result<ObservedJob> run_observed(const Installation& parts, const ObservedJobOptions& options) {
  const SteadyClock clock;
  const host::HostFiles files;
  auto isolated = begin_isolation(options);
  if (!isolated) return forward_error(isolated);
  isolation::IsolatedTrial* const trial = *isolated ? &**isolated : nullptr;
  auto writer = begin_run(options, clock);
  if (!writer) return forward_error(writer);
  note_circumstances(options.command, files, **writer);
  auto monitor = open_monitor(parts, options.emulation, visible_devices(options), clock);
  if (!monitor) return forward_error(monitor);

  auto job = observe::JobProcess::start(job_options(parts, options, trial));
  if (!job) {
    ObservedJob none;
    none.not_started = job.error();
    writer->reset();
    isolated->reset();
    remove_run_folder(options.run_dir);
    return none;
  }
  if (const Status started = trial == nullptr ? Status() : trial->started(job->pid()); !started) {
    trial->kill();
    static_cast<void>(job->wait());
    return forward_error(started);
  }
  // Where the owner cannot be written down, more is left over than usual if we are killed.
  if (options.emulation != nullptr) {
    static_cast<void>(options.emulation->state().belongs_to(job->pid()));
  }

  observe::SamplerWiring sampler;
  sampler.clock = &clock;
  sampler.files = &files;
  sampler.gpus = monitor->get();
  sampler.writer = writer->get();
  auto watching = observe::Observation::start(sampler, sampler_options(), job->pid());
  if (!watching) {
    // Watching failed, the job did not: it runs to its end all the same.
    const Result<observe::JobExit> end = job->wait();
    if (!end) return forward_error(end);
    return forward_error(watching);
  }
  ObservedJob observed;
  Waiting waiting(*job, options, trial);
  const Result<observe::JobExit> end = waiting.wait(**watching, observed);
  observed.watching = (*watching)->stop();
  waiting.end(observed);
  end_isolation(trial, observed);
  if (!end) return forward_error(end);
  end_run(*end, clock, **writer, observed);
  return observed;
}

}  // namespace unstarve::launch
