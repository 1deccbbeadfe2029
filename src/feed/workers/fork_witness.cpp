#include "feed/workers/fork_witness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <utility>

namespace unstarve::feed {
namespace {

// Descriptors that are kept open at most to ask about processes that live on.
constexpr std::size_t kOlderMost = 64;
constexpr std::size_t kPageBytes = 4096;

/// True: no process has a page of the file mapped, and none will.
bool is_unmapped_everywhere(const FileDescriptor& file) {
  return file && ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE) == 0;
}

}  // namespace

std::uint64_t fork_count() {
  // Forks are of the process, so this is one of the few places where state of the process is what
  // is meant. They are counted before they happen.
  static std::atomic<std::uint64_t> forks(0);
  static const int registered = ::pthread_atfork([] { ++forks; }, nullptr, nullptr);
  // Without the handler (no memory for it) every moment counts as a fork: nothing is used twice
  // before it is asked about.
  return registered == 0 ? forks.load() : ++forks;
}

ForkWitness::ForkWitness() { older_.reserve(kOlderMost + 1); }

void ForkWitness::MappingTraits::close(Handle page) noexcept { ::munmap(page, kPageBytes); }

/// Without a file where there is none to be had.
ForkWitness::Page ForkWitness::map_page(std::uint64_t after) noexcept {
  Page page;
  page.after = after;
  // glibc has a function for this from 2.27 on; wheels are for 2.17.
  FileDescriptor file(static_cast<int>(
      ::syscall(SYS_memfd_create, "unstarve-forks", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!file) return page;
  // The file stays empty, and the page is never touched: it takes no memory.
  void* address = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return page;
  page.mapping.reset(address);
  page.file = std::move(file);
  return page;
}

std::uint64_t ForkWitness::watch() noexcept {
  const std::uint64_t forks = fork_count();
  if (watches_ && forks == newest_.after) return forks;
  // The new page is mapped before the old one goes: a fork in between has either.
  Page old = std::exchange(newest_, map_page(forks));
  old.mapping.reset();
  old.up_to = fork_count();
  if (std::exchange(watches_, true)) older_.push_back(std::move(old));
  if (older_.size() > kOlderMost) {
    given_up_ = older_.front().up_to;
    older_.erase(older_.begin());
  }
  return forks;
}

bool ForkWitness::may_live(std::uint64_t after, std::uint64_t up_to) noexcept {
  if (after < given_up_) return true;
  std::erase_if(older_, [](const Page& page) { return is_unmapped_everywhere(page.file); });
  for (const Page& page : older_) {
    if (page.up_to > after && page.after < up_to) return true;
  }
  return false;
}

void ForkWitness::forget(std::uint64_t up_to) noexcept {
  std::erase_if(older_, [up_to](const Page& page) { return page.up_to <= up_to; });
}

}  // namespace unstarve::feed
