#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace unstarve::script {

/// Arguments that one call gets.
struct CallEdit {
  std::string class_name;  // the name that is called ends in it
  std::int64_t line = 0;   // any that the call is on, counted from 1
  std::vector<std::pair<std::string, std::string>> arguments;  // {"num_workers", "8"}
  // The numbers that they are now. The edit is refused where the call gives something else, or the
  // script makes more objects of such a class. None: whatever the call gives is replaced.
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> was = {};
  bool drop_in = false;  // the class is taken from unstarve
  bool cached = false;   // unstarve.cached() stands around its first parameter
};

/// What is to stand in a script; made whole or not at all.
struct ScriptEdit {
  std::vector<std::string> lines;   // behind its first `import torch`
  std::vector<std::string> unless;  // parts of names: a script that uses such a one gets no lines
  std::string optimizer;            // "AdamW": the only one, by torch, gets fused=True; empty: none
  std::vector<CallEdit> calls;
};

/// A script with a change in it, which is not made.
struct EditedScript {
  std::string path;        // whole
  std::string text;        // with the change
  std::string diff;        // for `patch -p1` and `git apply`; empty where there is no change
  bool from_root = false;  // the diff names the file from the file system's root on
  // Of each edit, why it is not certain to do what it is meant to do; empty: it is made.
  std::vector<std::string> refused;
};

/// Reads the file as it is now. `python`: an interpreter as old as 3.8 may do; it runs without what
/// it has installed. Where it cannot run, or cannot read the file, all edits are refused. The diff
/// names a file below the working directory from there on.
EditedScript edit_script(const std::string& python, const std::string& path,
                         const std::vector<ScriptEdit>& edits);

/// A place in a source, such as "train.py:41".
struct Place {
  std::string file;
  std::int64_t line = 0;
};
std::optional<Place> read_place(const std::string& text);

}  // namespace unstarve::script
