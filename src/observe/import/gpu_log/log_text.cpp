#include "observe/import/gpu_log/log_text.h"

#include <cstddef>
#include <string_view>

namespace unstarve::observe {

namespace {

constexpr std::size_t kTellingBytes = 4;

void append_utf8(unsigned unit, std::string& text) {
  constexpr unsigned kTwoBytes = 0x80;
  constexpr unsigned kThreeBytes = 0x800;
  constexpr unsigned kSixBits = 0x3F;
  const auto add = [&text](unsigned byte) { text += static_cast<char>(byte); };
  if (unit < kTwoBytes) return add(unit);
  if (unit >= 0xD800 && unit < 0xE000) return add('?');  // half of a pair: in no column of a log
  if (unit < kThreeBytes) {
    add(0xC0 | unit >> 6);
  } else {
    add(0xE0 | unit >> 12);
    add(0x80 | (unit >> 6 & kSixBits));
  }
  add(0x80 | (unit & kSixBits));
}

}  // namespace

void LogText::append(std::span<const char> bytes, std::string& text) {
  begun_.append(bytes.data(), bytes.size());
  std::string_view rest = begun_;
  if (form_ == Form::kUnknown) {
    if (rest.size() >= kTellingBytes &&
        (rest.starts_with("\xFF\xFE") || (rest[1] | rest[3]) == 0)) {
      form_ = Form::kLittle;
    } else if (rest.size() >= kTellingBytes &&
               (rest.starts_with("\xFE\xFF") || (rest[0] | rest[2]) == 0)) {
      form_ = Form::kBig;
    } else {
      form_ = Form::kAsItIs;
    }
    const bool has_mark = rest.starts_with("\xFF\xFE") || rest.starts_with("\xFE\xFF");
    if (form_ != Form::kAsItIs && has_mark) rest.remove_prefix(2);
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  }
  if (form_ == Form::kAsItIs) {
    text += rest;
    begun_.clear();
    return;
  }
  for (; rest.size() >= 2; rest.remove_prefix(2)) {
    const auto first = static_cast<unsigned char>(rest[form_ == Form::kLittle ? 1 : 0]);
    const auto second = static_cast<unsigned char>(rest[form_ == Form::kLittle ? 0 : 1]);
    append_utf8(static_cast<unsigned>(first) << 8 | second, text);
  }
  begun_ = std::string(rest);
}

}  // namespace unstarve::observe
