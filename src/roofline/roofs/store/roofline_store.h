#pragma once

#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "roofline/roofs/store/roofline_document.h"

namespace unstarve::roofline {

/// What was measured, kept as a file for each machine, since a home may be shared by many. What an
/// emulated GPU is said to do lies in a file of its own.
///
///   RooflineStore store(files, RooflineStore::default_folder());
///   Result<RooflineDocument> known = store.load(machine_key(machine), false);
///
/// Thread rule: any thread. `files` outlives it.
class RooflineStore {
 public:
  RooflineStore(io::Files& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  /// $XDG_CACHE_HOME/unstarve/roofline or $HOME/.cache/unstarve/roofline; empty where neither is
  /// set.
  static std::string default_folder();

  std::string path_of(const std::string& key, bool modelled) const;
  /// kNotFound where there is none, kCorruptData where it is no such file.
  Result<RooflineDocument> load(const std::string& key, bool modelled) const;
  /// Those of all machines that can be read, at most some hundreds.
  std::vector<RooflineDocument> load_all() const;
  /// Replaces the machine's file: who reads it finds all of the old or all of the new.
  Status save(const RooflineDocument& document) const;

 private:
  Result<RooflineDocument> load_file(const std::string& path) const;
  io::Files& files_;
  std::string folder_;
};

}  // namespace unstarve::roofline
