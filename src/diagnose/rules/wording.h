#pragma once

#include <fmt/format.h>

#include <string>

namespace unstarve::diagnose {

/// "34 %", "0.4 %"; below 10 % with one digit, so that small shares stay telling.
std::string percent(double ratio);
/// "12.3 ms", "850 us", "1.75 s".
std::string duration(double ns);
/// "19.3 MB", "512 B" (powers of ten).
std::string bytes(double count);
/// " at train.py:41", or nothing when the place is unknown.
std::string at(const std::string& place);

}  // namespace unstarve::diagnose
