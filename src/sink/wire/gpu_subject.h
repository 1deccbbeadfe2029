#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "sink/sink.h"

namespace unstarve::sink {

/// 3 of "gpu3", the subject of a GPU's metrics; none of any other subject.
inline std::optional<std::size_t> gpu_of(std::string_view subject) {
  constexpr std::string_view kGpu = "gpu";
  constexpr std::size_t kDigitsMax = 4;
  if (!subject.starts_with(kGpu)) return std::nullopt;
  subject.remove_prefix(kGpu.size());
  if (subject.size() > kDigitsMax) return std::nullopt;
  std::size_t number = 0;
  const char* const end = subject.data() + subject.size();
  const auto [rest, failed] = std::from_chars(subject.data(), end, number);
  if (failed != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// "GPU-..."; empty where it is not known.
inline std::string uuid_of(const RunStart& run, std::size_t gpu) {
  return gpu < run.gpu_uuids.size() ? run.gpu_uuids[gpu] : std::string();
}

}  // namespace unstarve::sink
