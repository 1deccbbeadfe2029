#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::runs {

// Tags and the note of a run, in its own folder, so that they go where it goes. A tag is an empty
// file, named so: it is added and removed in one call of the system, and of many who do so at once
// nobody undoes what another did, on file systems without locks as well.

inline constexpr const char* kTagsFolder = "tags";
inline constexpr const char* kNoteFile = "note.txt";
inline constexpr std::size_t kNoteBytesMax = 4096;

struct Labels {
  std::vector<std::string> tags;  // sorted; at most 100
  std::string note;
};

/// Of a run or a folder of runs; what cannot be read is left out.
Labels read_labels(const std::string& folder);

/// kInvalidArgument for what is no tag: letters, digits and . _ - = + : @ make one, 64 at most, the
/// first a letter or a digit.
Status check_tag(const std::string& tag);

/// Each does nothing where it is so already. Errors: check_tag()'s; the run's folder cannot be
/// written.
Status add_tag(const std::string& folder, const std::string& tag);
Status remove_tag(const std::string& folder, const std::string& tag);

/// An empty note removes the one that is there. Errors: kInvalidArgument where it is longer than
/// kNoteBytesMax; the run's folder cannot be written.
Status write_note(const std::string& folder, const std::string& note);

}  // namespace unstarve::runs
