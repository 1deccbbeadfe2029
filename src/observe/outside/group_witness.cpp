#include "observe/outside/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

namespace unstarve::observe {

namespace {

/// A signal to a group is put on every member before kill() returns, so the witness has it when we
/// have; what is waited for is only its turn on a CPU.
constexpr int kPatienceMs = 50;

/// Where the kernel looks for this process's command line: in its own memory.
struct CommandLine {
  char* first = nullptr;
  std::size_t bytes = 0;
};

CommandLine own_command_line() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // Fields 48 and 49 of proc(5), counted behind the name, which is the second and may hold blanks.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string skipped;
  for (int field = 3; field < 48; ++field) fields >> skipped;
  std::uintptr_t first = 0;
  std::uintptr_t end = 0;
  if (!(fields >> first >> end) || first == 0 || end <= first) return {};
  // The kernel's own number for our memory: there is no other way to come by it.
  return {reinterpret_cast<char*>(first), end - first};  // NOLINT(performance-no-int-to-ptr)
}

/// How the witness is seen by others.
struct Disguise {
  std::string name;
  std::string command_line;  // words with a NUL behind each
  CommandLine place;
};

Disguise as_the_job(const std::vector<std::string>& command) {
  Disguise disguise;
  disguise.place = own_command_line();
  for (const std::string& word : command) disguise.command_line.append(word).push_back('\0');
  // For whoever wonders why it is there twice.
  disguise.command_line += "[witness of its signals]";
  const std::string& program = command.front();
  disguise.name = program.substr(program.rfind('/') + 1);
  return disguise;
}

/// The witness's whole life. Only calls that are allowed after a fork.
[[noreturn]] void watch(int tell, pid_t parent, const Disguise& disguise) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, disguise.name.c_str());
  const CommandLine& place = disguise.place;
  if (place.bytes > 0) {
    const std::size_t shown = std::min(disguise.command_line.size(), place.bytes - 1);
    std::memcpy(place.first, disguise.command_line.data(), shown);
    std::memset(place.first + shown, 0, place.bytes - shown);
  }
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&watched, signal);
  while (true) {
    const int signal = ::sigwaitinfo(&watched, nullptr);
    if (signal < 0) continue;  // interrupted, by a stop and its continuation for example
    const char number = static_cast<char>(signal);
    if (::write(tell, &number, 1) != 1) ::_exit(0);
  }
}

}  // namespace

GroupWitness::GroupWitness(const std::vector<std::string>& command) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  told_.reset(ends[0]);
  FileDescriptor tell(ends[1]);
  const pid_t parent = ::getpid();
  const Disguise disguise = as_the_job(command);
  // The signals are blocked already: the child inherits that, so none is lost or kills it.
  pid_ = ::fork();
  if (pid_ == 0) watch(tell.get(), parent, disguise);
}

GroupWitness::~GroupWitness() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupWitness::saw(int signal) {
  if (pid_ <= 0) return false;
  pollfd wanted{told_.get(), POLLIN, 0};
  while (::poll(&wanted, 1, kPatienceMs) > 0) {
    char number = 0;
    if (::read(told_.get(), &number, 1) != 1) return false;
    if (number == static_cast<char>(signal)) return true;
  }
  return false;
}

bool never_arrived(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  if (!status) return false;  // it is gone, as it was told
  const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  int masks = 0;
  for (std::string line; std::getline(status, line);) {
    const std::string_view text(line);
    if (text.substr(0, 6) == "State:" && text.find_first_of("ZX") != std::string_view::npos) {
      return false;
    }
    const std::size_t colon = text.find(':');
    const std::string_view key = text.substr(0, colon);
    if (key != "SigPnd" && key != "ShdPnd" && key != "SigBlk" && key != "SigIgn" &&
        key != "SigCgt") {
      continue;
    }
    std::uint64_t mask = 0;
    const std::size_t digits = std::min(text.find_first_not_of(": \t", colon), text.size());
    std::from_chars(text.data() + digits, text.data() + text.size(), mask, 16);
    if ((mask & bit) != 0) return false;
    ++masks;
  }
  return masks == 5;
}

}  // namespace unstarve::observe
