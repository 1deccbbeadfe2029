#pragma once

namespace unstarve::kernels {

/// The factors of the Loeffler-Ligtenberg-Moschytz transform, which multiplies 12 times per eight
/// values, as jidctint.c scales them: by 2^13, rounded.
constexpr int dct_factor(double value) { return static_cast<int>(value * 8192 + 0.5); }

inline constexpr int kF0298 = dct_factor(0.298631336);
inline constexpr int kF0390 = dct_factor(0.390180644);
inline constexpr int kF0541 = dct_factor(0.541196100);
inline constexpr int kF0765 = dct_factor(0.765366865);
inline constexpr int kF0899 = dct_factor(0.899976223);
inline constexpr int kF1175 = dct_factor(1.175875602);
inline constexpr int kF1501 = dct_factor(1.501321110);
inline constexpr int kF1847 = dct_factor(1.847759065);
inline constexpr int kF1961 = dct_factor(1.961570560);
inline constexpr int kF2053 = dct_factor(2.053119869);
inline constexpr int kF2562 = dct_factor(2.562915447);
inline constexpr int kF3072 = dct_factor(3.072711026);

// The column pass keeps 2 bits of fraction; the row pass drops them, and the 8 that two passes
// multiply by.
inline constexpr int kColumnShift = 13 - 2;
inline constexpr int kRowShift = 13 + 2 + 3;

}  // namespace unstarve::kernels
