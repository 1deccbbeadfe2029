#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace unstarve::observe {

/// The bytes of a log as UTF-8: PowerShell writes UTF-16, with or without its mark. What is no
/// UTF-16 goes through as it is.
class LogText {
 public:
  /// Adds to `text` what `bytes`, which follow those of the call before, say.
  void append(std::span<const char> bytes, std::string& text);

 private:
  enum class Form : std::uint8_t { kUnknown, kAsItIs, kLittle, kBig };

  Form form_ = Form::kUnknown;
  std::string begun_;  // bytes of a unit that is not whole yet
};

}  // namespace unstarve::observe
