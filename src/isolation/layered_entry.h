#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/child_entry.h"
#include "isolation/file_change.h"
#include "isolation/layer_plan.h"

namespace unstarve::isolation {

/// The file systems as one trial sees them.
struct LayeredView {
  std::vector<MountStep> steps;
  std::vector<std::string> kept;     // stay as they are within layers: files or folders
  std::vector<std::string> sockets;  // of other processes, kept too; one may go at any time
  std::string store;                 // a folder of the trial's own, for what it writes
  std::string working_folder;        // where it starts; its layer has to be one
  bool has_user_namespace = false;   // of an ordinary user
  std::vector<FileChange> changes = {};
};

/// Takes a child process into the view, in a mount namespace of its own: what it writes goes into
/// the store and is seen by nobody else.
class LayeredEntry {
 public:
  /// Makes the folders of the store. Errors: those of the file system.
  static Result<LayeredEntry> prepare(LayeredView view);
  LayeredEntry(LayeredEntry&&) noexcept;
  LayeredEntry& operator=(LayeredEntry&&) noexcept;
  ~LayeredEntry();

  /// For JobOptions::enter; good as long as this object lives.
  ChildEntry entry() const;
  /// Folders that could not be layered and are read-only in there, once the child has entered.
  std::vector<std::string> read_only() const;

 private:
  struct Impl;
  explicit LayeredEntry(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::isolation
