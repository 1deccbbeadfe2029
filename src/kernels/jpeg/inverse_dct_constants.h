#pragma once

namespace unstarve::kernels {

/// The factors of the Loeffler-Ligtenberg-Moschytz transform, which multiplies 12 times per eight
/// values, as jidctint.c scales them: by 2^13, rounded.
inline constexpr int kF0298 = 2446;   // 0.298631336
inline constexpr int kF0390 = 3196;   // 0.390180644
inline constexpr int kF0541 = 4433;   // 0.541196100
inline constexpr int kF0765 = 6270;   // 0.765366865
inline constexpr int kF0899 = 7373;   // 0.899976223
inline constexpr int kF1175 = 9633;   // 1.175875602
inline constexpr int kF1501 = 12299;  // 1.501321110
inline constexpr int kF1847 = 15137;  // 1.847759065
inline constexpr int kF1961 = 16069;  // 1.961570560
inline constexpr int kF2053 = 16819;  // 2.053119869
inline constexpr int kF2562 = 20995;  // 2.562915447
inline constexpr int kF3072 = 25172;  // 3.072711026

// The column pass keeps 2 bits of fraction; the row pass drops them, and the 8 that two passes
// multiply by.
inline constexpr int kColumnShift = 13 - 2;
inline constexpr int kRowShift = 13 + 2 + 3;

}  // namespace unstarve::kernels
