#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/child_entry.h"
#include "isolation/file_change.h"

namespace unstarve::isolation {

/// By which the files of a job are safe from its trials.
enum class Means : std::uint8_t {
  kLayers,      // of an administrator: a layer over every file system takes what a trial writes
  kUserLayers,  // the same in a user namespace
  kGuard,       // what was there cannot be written over, what was made is removed
  kNone,        // nothing: trials write where the job writes
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// What somebody asks for otherwise than it is by itself.
struct IsolationWish {
  bool in_place = false;  // trials write where the job writes
  bool online = false;    // trackers of experiments report to their servers
};

/// One run of a job that leaves nothing behind.
///
/// Thread rule: one thread. Lifetime: until after the job's end.
class IsolatedTrial {
 public:
  IsolatedTrial(IsolatedTrial&&) noexcept;
  IsolatedTrial& operator=(IsolatedTrial&&) noexcept;
  ~IsolatedTrial();

  const std::vector<std::string>& command() const;
  /// More variables of the job, which those of the trial's own come behind.
  const Environment& environment() const;
  /// For observe::JobOptions::enter; empty in place.
  ChildEntry entry() const;
  /// Once the job runs. Errors: it cannot be watched, and is to be ended.
  Status started(pid_t pid);
  /// Why the trial has to end, if it has to: kNoPermission where the job would write over what was
  /// there (Means::kGuard), kIo where what it wrote has filled the disk.
  Status check() const;
  /// Folders that are read-only in there since no layer fits their file system.
  std::vector<std::string> read_only() const;
  /// Kills all processes of the trial; how many there were.
  std::size_t kill();
  /// After the job's end: kills what it left running, and drops what it wrote.
  std::size_t end();

 private:
  friend class Isolation;
  struct Impl;
  explicit IsolatedTrial(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// How the trials of a job are kept from its files on this machine: found out once.
///
///   auto isolation = Isolation::choose(command, "runs/1", {});
///   auto trial = isolation->begin("/abs/runs/1/before", command, {});
///   ... start the job with trial->entry(), trial->started(pid), wait for its end
///   trial->end();
class Isolation {
 public:
  /// `folder`: of the trials, made where it is missing. Errors: kNotSupported where no means is
  /// left, or the command starts the job elsewhere (`docker run`, `srun`): with what to do.
  static Result<Isolation> choose(const std::vector<std::string>& command,
                                  const std::string& folder, const IsolationWish& wish);

  Means means() const { return means_; }
  /// Why no better means was chosen; empty for kLayers and what was asked for.
  const std::string& why_not() const { return why_not_; }
  const IsolationWish& wish() const { return wish_; }
  /// Whether a trial may find a file of the job changed: layers alone can do that.
  bool can_change_files() const { return means_ == Means::kLayers || means_ == Means::kUserLayers; }
  /// In words, where it may not.
  std::string why_files_stay() const;
  /// `run_dir`: absolute, of this run alone and kept as it is in there. `environment`: variables
  /// that the job gets. `changes`: to files that are there. Errors: kInvalidArgument where the
  /// folder holds something already, or changes are asked for that cannot be made.
  Result<IsolatedTrial> begin(const std::string& run_dir, const std::vector<std::string>& command,
                              const Environment& environment,
                              const std::vector<FileChange>& changes = {}) const;

 private:
  friend class IsolatedTrial;
  /// A folder that is gone with this object.
  class OwnFolder {
   public:
    explicit OwnFolder(std::string path) : path_(std::move(path)) {}
    OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    OwnFolder& operator=(OwnFolder&& other) noexcept {
      std::swap(path_, other.path_);
      return *this;
    }
    ~OwnFolder();
    const std::string& path() const { return path_; }

   private:
    std::string path_;
  };

  Isolation(const IsolationWish& wish, std::string caches)
      : wish_(wish), caches_(std::move(caches)) {}
  struct Asked;
  std::optional<std::string> try_layers(Means means, const std::string& folder);
  std::optional<std::string> try_guard() const;
  Result<IsolatedTrial> begin_by(Means means, const std::string& store_base,
                                 const Asked& asked) const;

  IsolationWish wish_;
  Means means_ = Means::kNone;
  std::string store_base_;  // empty: in the run's folder
  std::string why_not_;
  OwnFolder caches_;  // what compilers keep for the next trial, where they have no cache yet
};

}  // namespace unstarve::isolation
