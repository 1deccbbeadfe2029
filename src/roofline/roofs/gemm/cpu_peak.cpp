#include "roofline/roofs/gemm/cpu_peak.h"

#include <algorithm>
#include <charconv>

namespace unstarve::roofline {

namespace {

constexpr double kAmxBfloat16 = 1024;
constexpr double kAvx512 = 64;  // two units, 16 lanes, two operations
constexpr double kAvx2 = 32;
constexpr double kHzPerKhz = 1e3;

bool has(const Machine& machine, const char* flag) {
  const auto& flags = machine.cpu_flags;
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

/// Zen 4, whose 512-bit instructions take two cycles: it has AVX-512 and is of AMD's family 25.
bool has_half_width(const Machine& machine) {
  return machine.cpu_vendor == "AuthenticAMD" && machine.cpu_family == 25;
}

}  // namespace

bool has_bfloat16(const Machine& machine) {
  return has(machine, "avx512_bf16") || has(machine, "amx_bf16");
}

Reading<double> flops_per_cycle(const Machine& machine, const std::string& dtype) {
  double of_float32 = 0;
  if (has(machine, "avx512f")) {
    of_float32 = has_half_width(machine) ? kAvx512 / 2 : kAvx512;
  } else if (has(machine, "avx2") && has(machine, "fma")) {
    of_float32 = kAvx2;
  }
  if (of_float32 == 0) return WhyAbsent::kNotSupported;
  if (dtype == "float32") return of_float32;
  if (dtype != "bfloat16") return WhyAbsent::kNotSupported;
  if (has(machine, "amx_bf16")) return kAmxBfloat16;
  if (has(machine, "avx512_bf16")) return 2 * of_float32;
  return WhyAbsent::kNotSupported;
}

Reading<double> highest_clock_hz(const host::HostFiles& files) {
  const auto text = files.read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (!text) return WhyAbsent::kNotSupported;
  std::int64_t khz = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), khz);
  if (parsed.ec != std::errc() || khz <= 0) return WhyAbsent::kNotSupported;
  return kHzPerKhz * static_cast<double>(khz);
}

Reading<double> product_peak(const Machine& machine, const host::HostFiles& files,
                             const std::string& dtype) {
  const Reading<double> clock_hz = highest_clock_hz(files);
  const Reading<double> per_cycle = flops_per_cycle(machine, dtype);
  if (!clock_hz || !per_cycle) return WhyAbsent::kNotSupported;
  return machine.threads * *clock_hz * *per_cycle;
}

}  // namespace unstarve::roofline
