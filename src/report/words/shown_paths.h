#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unstarve::report {

/// `text` with the absolute paths in it that lie in `folder` written from there on: what a person
/// types who stands in it. As it is where `folder` is empty.
std::string relative_paths(std::string_view text, std::string_view folder);

/// `text` with the places in it ("/a/job/train.py:41") whose files lie in `folder` written from
/// there on; other paths stay as they are. As it is where `folder` is empty.
std::string relative_places(std::string_view text, std::string_view folder);

/// The deepest folder that holds the files of all places that are absolute; empty where none is,
/// and where that is no deeper than "/home".
std::string common_folder(const std::vector<std::string>& places);

/// A piece of a text; one that is cut is shown as an ellipsis.
struct ShownPart {
  std::string text;
  bool is_cut = false;
};

/// The text in pieces, of which those are cut that short_paths() leaves out.
std::vector<ShownPart> short_parts(std::string_view text, std::size_t most);

/// `text` in which no path takes more than `most` characters: of a longer one the longest name
/// loses its middle, of one of many names the path does. For reading; what is copied has to be
/// whole.
std::string short_paths(std::string_view text, std::size_t most);

}  // namespace unstarve::report
