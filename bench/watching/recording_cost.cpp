// What one record costs the thread that moves CUPTI's records into the ring: kernels with their
// launches, as a training has them.
//   recording_cost [RECORDS]
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/clock.h"
#include "observe/inside/cupti/activity_ring.h"

namespace {

using namespace unstarve;

constexpr int kNames = 60;  // different kernels of a training

std::span<const std::uint8_t> bytes_of(const auto& record) {
  return {reinterpret_cast<const std::uint8_t*>(&record), sizeof(record)};
}

}  // namespace

int main(int argc, char** argv) {
  const long pairs = (argc > 1 ? std::atol(argv[1]) : 2'000'000) / 2;
  std::string folder = (std::filesystem::temp_directory_path() / "unstarve-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  std::array<std::string, kNames> names;
  for (std::string& name : names) {
    name =
        fmt::format("_ZN2at6native29vectorized_elementwise_kernelILi4E{}", std::string(120, 'E'));
    name += std::to_string(&name - names.data());
  }
  recording::ClockMatch clock;
  const recording::ClockMatch::Reading readings[] = {{1'000, 2'000, 1'010},
                                                     {9'000'000'000, 9'000'001'000, 9'000'000'010}};
  clock.add(&readings[0], 1);
  clock.add(&readings[1], 1);
  recording::ActivityRing ring(folder, {});
  const std::int64_t before = thread_cpu_time_ns();
  for (long i = 0; i < pairs; ++i) {
    cupti::ApiCall call;
    call.call = static_cast<std::uint32_t>(cupti::RuntimeCall::kCudaLaunchKernel);
    call.start_ns = static_cast<std::uint64_t>(5'000 + i * 100);
    call.end_ns = call.start_ns + 5'000;
    cupti::Kernel kernel;
    kernel.start_ns = call.end_ns;
    kernel.end_ns = kernel.start_ns + 10'000;
    const char* const name = names[static_cast<std::size_t>(i % kNames)].c_str();
    std::memcpy(&kernel.name, &name, sizeof(name));
    if (!ring.write(bytes_of(call), clock) || !ring.write(bytes_of(kernel), clock)) return 1;
  }
  const std::int64_t took = thread_cpu_time_ns() - before;
  fmt::print("{} records: {:.0f} ns of CPU each\n", 2 * pairs,
             static_cast<double>(took) / static_cast<double>(2 * pairs));
  std::filesystem::remove_all(folder);
}
