#include "emulated/duration/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace unstarve::emulated {

namespace {

// Names of extensive templates run to some 10,000 characters; the rest is not worth the time.
constexpr std::size_t kNameBytesMax = 65536;

constexpr bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
constexpr bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

std::string demangled(std::string_view name) {
  std::string text(name.substr(0, kNameBytesMax));
  if (!text.starts_with("_Z")) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  if (plain == nullptr || status != 0) return text;
  return std::string(plain.get()).substr(0, kNameBytesMax);
}

/// Where the bracket that opens at `begin` closes; the text's end where it does not.
std::size_t end_of_bracket(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (opens(text[at])) ++depth;
    if (closes(text[at]) && --depth == 0) return at;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct NamedBytes {
  std::string_view name;
  double bytes;
};

// The longer of two that begin alike come first.
constexpr NamedBytes kTypes[] = {
    {"c10::complex<c10::Half>", 4},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"c10::Half", 2},
    {"at::Half", 2},
    {"__half", 2},
    {"half", 2},
    {"cutlass::half_t", 2},
    {"cutlass::bfloat16_t", 2},
    {"c10::BFloat16", 2},
    {"at::BFloat16", 2},
    {"__nv_bfloat16", 2},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"float", 4},
    {"double", 8},
    {"bool", 1},
    {"unsigned char", 1},
    {"signed char", 1},
    {"char", 1},
    {"unsigned short", 2},
    {"short", 2},
    {"unsigned long", 8},
    {"long long", 8},
    {"long", 8},
    {"unsigned int", 4},
    {"int", 4},
};

}  // namespace

KernelName::KernelName(std::string_view name) : text_(demangled(name)) { take_apart(); }

void KernelName::take_apart() {
  Range arguments;
  Range parameters;
  std::size_t word = 0;
  std::size_t at = 0;
  base_ = {0, text_.size()};
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == ' ') {  // what was before is the type that it returns
      word = ++at;
      continue;
    }
    if (!opens(c)) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_bracket(text_, at);
    const bool of_scope = std::string_view(text_).substr(end).starts_with(c == '<' ? ">::" : ")::");
    if (!of_scope && c == '<') arguments = {at + 1, end};
    if (!of_scope) base_ = {word, arguments.end != 0 ? arguments.begin - 1 : at};
    if (!of_scope && c == '(') {
      parameters = {at + 1, end};
      break;
    }
    at = end < text_.size() ? end + 1 : end;
  }
  const std::size_t scope = view(base_).rfind("::");
  if (scope != std::string_view::npos) base_.begin += scope + 2;
  template_arguments_ = split(arguments);
  parameters_ = split(parameters);
}

std::vector<KernelName::Range> KernelName::split(Range list) const {
  std::vector<Range> ranges;
  for (const std::string_view item : split_list(view(list))) {
    const std::size_t begin = static_cast<std::size_t>(item.data() - text_.data());
    ranges.push_back({begin, begin + item.size()});
  }
  return ranges;
}

std::vector<std::string_view> KernelName::views(const std::vector<Range>& ranges) const {
  std::vector<std::string_view> result;
  result.reserve(ranges.size());
  for (const Range& range : ranges) result.push_back(view(range));
  return result;
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at < list.size() && opens(list[at])) ++depth;
    if (at < list.size() && closes(list[at])) --depth;
    if (at < list.size() && !(depth == 0 && list[at] == ',')) continue;
    const std::string_view item = trimmed(list.substr(begin, at - begin));
    if (!item.empty()) items.push_back(item);
    begin = at + 1;
  }
  return items;
}

std::optional<double> bytes_of_type(std::string_view type) {
  type = trimmed(type);
  if (type.ends_with('&')) type = trimmed(type.substr(0, type.size() - 1));
  if (type.ends_with("const")) type = trimmed(type.substr(0, type.size() - 5));
  if (type.starts_with("const ")) type = trimmed(type.substr(6));
  for (const NamedBytes& known : kTypes) {
    if (type == known.name) return known.bytes;
  }
  const std::size_t opaque = type.find("OpaqueType<");
  if (opaque != std::string_view::npos && opaque + 11 < type.size()) {
    const int bytes = std::atoi(std::string(type.substr(opaque + 11, 2)).c_str());
    if (bytes >= 1 && bytes <= 16) return bytes;
  }
  return std::nullopt;
}

std::optional<double> bytes_of_first_type(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_word(text[at - 1])) continue;
    for (const NamedBytes& known : kTypes) {
      if (!text.substr(at).starts_with(known.name)) continue;
      const std::size_t end = at + known.name.size();
      if (end == text.size() || !is_word(text[end])) return known.bytes;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> pointed_type(std::string_view parameter) {
  parameter = trimmed(parameter);
  if (!parameter.ends_with('*')) return std::nullopt;
  parameter = trimmed(parameter.substr(0, parameter.size() - 1));
  if (parameter.ends_with("const")) parameter = trimmed(parameter.substr(0, parameter.size() - 5));
  return parameter;
}

}  // namespace unstarve::emulated
