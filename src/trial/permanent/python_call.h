#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::trial {

/// One argument of a call, as positions in the source.
struct PythonArgument {
  std::string name;  // empty: by its position; "*" and "**": unpacked
  std::size_t value_begin = 0;
  std::size_t value_end = 0;  // without the spaces behind it
};

/// A call in Python source.
struct PythonCall {
  std::string callee;  // as it is written: "torch.utils.data.DataLoader"
  std::size_t callee_begin = 0;
  std::size_t open = 0;  // of its bracket
  std::size_t close = 0;
  std::vector<PythonArgument> arguments;
  bool trailing_comma = false;  // behind the last argument
};

/// The same text with strings and comments blanked out, byte for byte: what is left is code.
std::string code_alone(std::string_view source);

/// All calls of names that end in `name`, in the order of the text, but for those that do not end.
std::vector<PythonCall> calls_of(std::string_view source, std::string_view name);

/// The call of a name that ends in `name` whose text lies on this line, counted from 1: the last
/// that begins on it, else the innermost around it. None where there is none, or it does not end.
std::optional<PythonCall> find_call(std::string_view source, std::size_t line,
                                    std::string_view name);

}  // namespace unstarve::trial
