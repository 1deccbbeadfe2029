#pragma once

#include <string>

namespace unstarve {

// Numbers as people write them: three digits that tell, whatever the unit. What is not finite is
// "unknown".

/// "0.04", "4.12", "41.2", "412"
std::string number_text(double value);

/// In a sentence: "71 %", "3.1 %"; below 10 % with one digit more, so that small shares stay
/// telling.
std::string percent_text(double ratio);

/// In a column, beside others: "71.2 %".
std::string percent_cell(double ratio);

/// "850 ns", "12.3 ms", "1.75 s", "1 min 15 s", "2 h 5 min"
std::string duration_text(double ns);
std::string microseconds_text(double us);
std::string seconds_text(double s);

/// "512 B", "19.3 MB" (powers of ten)
std::string bytes_text(double bytes);

/// "3.85x"; with its interval it is worded by predict/speedup.h.
std::string factor_text(double speedup);

}  // namespace unstarve
