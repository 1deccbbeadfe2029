#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::emulated {

/// A kernel's name taken apart: "void at::native::fill<float>(int, float*)" has the base "fill",
/// the template argument "float" and the parameters "int" and "float*".
class KernelName {
 public:
  /// Mangled, or as a profiler shows it. Any text will do; of what is no C++ name, base() is all.
  explicit KernelName(std::string_view name);

  const std::string& text() const { return text_; }
  std::string_view base() const { return view(base_); }
  std::vector<std::string_view> template_arguments() const { return views(template_arguments_); }
  std::vector<std::string_view> parameters() const { return views(parameters_); }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  void take_apart();
  std::vector<Range> split(Range list) const;
  std::string_view view(Range range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  std::vector<std::string_view> views(const std::vector<Range>& ranges) const;

  std::string text_;
  Range base_;
  std::vector<Range> template_arguments_;
  std::vector<Range> parameters_;
};

/// The elements of a list such as "int, std::array<char*, 3ul>", at its top level.
std::vector<std::string_view> split_list(std::string_view list);
/// Bytes of a value of a type by its C++ name, qualifiers apart: 2 for "c10::Half const". Nothing
/// for a type that is no number.
std::optional<double> bytes_of_type(std::string_view type);
/// The same of the first number type that occurs in `text`.
std::optional<double> bytes_of_first_type(std::string_view text);
/// The element type of a pointer parameter: "float" of "float const*".
std::optional<std::string_view> pointed_type(std::string_view parameter);

}  // namespace unstarve::emulated
