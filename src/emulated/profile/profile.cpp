#include "emulated/profile/profile.h"

#include <charconv>

#include "base/io/read.h"
#include "emulated/profile/profile_document.h"
#include "emulated/profile/profile_reader.h"

namespace unstarve::emulated {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr double kRateMax = 1e18;  // operations or bytes a second
constexpr double kNsMax = 1e9;     // of one call, gap or latency
constexpr double kBytesMax = ProfileReader::kIntegerMax;
constexpr double kBoardMax = 1e6;  // W, C, MHz, s

// In the order of Call; kOther costs nothing.
constexpr const char* kCallNames[] = {"other",
                                      "launch_kernel",
                                      "graph_launch",
                                      "graph_instantiate",
                                      "memcpy_async",
                                      "memcpy",
                                      "memset_async",
                                      "memset",
                                      "malloc",
                                      "free",
                                      "malloc_async",
                                      "free_async",
                                      "host_alloc",
                                      "free_host",
                                      "host_register",
                                      "host_unregister",
                                      "event_create",
                                      "event_destroy",
                                      "event_record",
                                      "event_query",
                                      "event_synchronize",
                                      "stream_create",
                                      "stream_destroy",
                                      "stream_wait_event",
                                      "stream_query",
                                      "stream_synchronize",
                                      "device_synchronize",
                                      "launch_host_function",
                                      "pointer_get_attributes"};
static_assert(std::size(kCallNames) == static_cast<std::size_t>(Call::kCount));

void read_capability(ProfileReader& reader, Profile& profile) {
  std::string text;
  reader.text("compute_capability", text);
  if (text.empty()) return;
  const std::size_t point = text.find('.');
  const char* begin = text.data();
  if (point != std::string::npos) {
    std::from_chars(begin, begin + point, profile.compute_major);
    std::from_chars(begin + point + 1, begin + text.size(), profile.compute_minor);
  }
  if (profile.compute_major < 3 || profile.compute_major > 99 || profile.compute_minor < 0 ||
      profile.compute_minor > 9) {
    reader.reject("compute_capability", "is not of the form \"8.0\"");
  }
}

void read_architecture(ProfileReader& reader, Profile& profile) {
  reader.enter("architecture");
  read_capability(reader, profile);
  reader.integer("multiprocessors", profile.multiprocessors, 1, 4096);
  reader.integer("max_threads_per_multiprocessor", profile.max_threads_per_multiprocessor, 1024,
                 65536);
  reader.integer("max_blocks_per_multiprocessor", profile.max_blocks_per_multiprocessor, 1, 1024);
  reader.integer("shared_memory_per_block", profile.shared_memory_per_block, 1, 1e9);
  reader.integer("shared_memory_per_block_optin", profile.shared_memory_per_block_optin, 1, 1e9);
  reader.integer("shared_memory_per_multiprocessor", profile.shared_memory_per_multiprocessor, 1,
                 1e9);
  reader.integer("l2_bytes", profile.l2_bytes, 1, 1e12);
  reader.integer("total_memory_bytes", profile.total_memory_bytes, 1 << 20, kBytesMax);
  reader.integer("context_bytes", profile.context_bytes, 0, kBytesMax);
  reader.integer("memory_bus_bits", profile.memory_bus_bits, 1, 1e6);
  reader.integer("sm_clock_khz", profile.sm_clock_khz, 1, 1e9);
  reader.integer("memory_clock_khz", profile.memory_clock_khz, 1, 1e9);
  reader.flag("has_bf16", profile.has_bf16);
}

void read_rates(ProfileReader& reader, Profile& profile) {
  reader.enter("peak");
  reader.number("f64_flops", profile.peak.f64_flops, 1, kRateMax);
  reader.number("f64_tensor_flops", profile.peak.f64_tensor_flops, 0, kRateMax);
  reader.number("f32_flops", profile.peak.f32_flops, 1, kRateMax);
  reader.number("tf32_tensor_flops", profile.peak.tf32_tensor_flops, 0, kRateMax);
  reader.number("f16_tensor_flops", profile.peak.f16_tensor_flops, 1, kRateMax);
  reader.number("f8_tensor_flops", profile.peak.f8_tensor_flops, 0, kRateMax);
  reader.number("i8_tensor_ops", profile.peak.i8_tensor_ops, 0, kRateMax);
  reader.number("memory_bytes_per_s", profile.peak.memory_bytes_per_s, 1, kRateMax);
  reader.enter("achieved");
  reader.number("memory_ratio", profile.achieved.memory_ratio, 0.01, 1);
  reader.number("f32_ratio", profile.achieved.f32_ratio, 0.01, 1);
  reader.ratio("tf32_ratio", profile.achieved.tf32_ratio);
  reader.number("f16_ratio", profile.achieved.f16_ratio, 0.01, 1);
  reader.ratio("f8_ratio", profile.achieved.f8_ratio);
}

void read_transfers(ProfileReader& reader, Profile& profile) {
  reader.enter("transfers");
  reader.number("pinned_bytes_per_s", profile.pinned_bytes_per_s, 1e6, kRateMax);
  reader.number("pageable_bytes_per_s", profile.pageable_bytes_per_s, 1e6, kRateMax);
  reader.integer("copy_latency_ns", profile.copy_latency_ns, 0, kNsMax);
  reader.number("link_bytes_per_s", profile.link_bytes_per_s, 1e6, kRateMax);
  reader.integer("link_latency_ns", profile.link_latency_ns, 0, kNsMax);
}

void read_costs(ProfileReader& reader, Profile& profile) {
  reader.enter("launch");
  reader.integer("launch_latency_ns", profile.launch_latency_ns, 0, kNsMax);
  reader.integer("kernel_fixed_ns", profile.kernel_fixed_ns, 0, kNsMax);
  reader.integer("kernel_gap_ns", profile.kernel_gap_ns, 0, kNsMax);
  reader.integer("graph_gap_ns", profile.graph_gap_ns, 0, kNsMax);
  reader.enter("host_ns");
  for (std::size_t call = 1; call < profile.host_ns.size(); ++call) {
    reader.integer(kCallNames[call], profile.host_ns[call], 0, kNsMax);
  }
}

void read_board(ProfileReader& reader, Profile& profile) {
  reader.enter("board");
  reader.number("idle_w", profile.idle_w, 0, kBoardMax);
  reader.number("peak_w", profile.peak_w, 1, kBoardMax);
  reader.number("power_cap_w", profile.power_cap_w, 1, kBoardMax);
  reader.number("power_tau_s", profile.power_tau_s, 1e-3, kBoardMax);
  reader.number("ambient_c", profile.ambient_c, -100, 200);
  reader.number("celsius_per_w", profile.celsius_per_w, 0, 100);
  reader.number("temperature_tau_s", profile.temperature_tau_s, 1e-3, kBoardMax);
  reader.number("slowdown_c", profile.slowdown_c, 0, 1000);
  reader.number("idle_sm_mhz", profile.idle_sm_mhz, 1, kBoardMax);
  reader.number("boost_sm_mhz", profile.boost_sm_mhz, 1, kBoardMax);
  reader.number("memory_mhz", profile.memory_mhz, 1, kBoardMax);
}

Result<Profile> read_profile(const Json& document) {
  if (document.value("format", Json()) != "unstarve-gpu-profile") {
    return fail(ErrorCode::kCorruptData, "GPU profile: format is not \"unstarve-gpu-profile\"");
  }
  if (document.value("version", Json()) != 1) {
    return fail(ErrorCode::kNotSupported, "GPU profile: version is not 1, the one known here");
  }
  Profile profile;
  ProfileReader reader(document);
  reader.text("name", profile.name);
  reader.text("device_name", profile.device_name);
  read_architecture(reader, profile);
  read_rates(reader, profile);
  read_transfers(reader, profile);
  read_costs(reader, profile);
  read_board(reader, profile);
  if (Status status = reader.status(); !status) return forward_error(status);
  profile.sources = reader.take_sources();
  return profile;
}

Result<Json> read_document(std::string_view name_or_path) {
  Result<Json> built_in = find_document(name_or_path);
  if (built_in || name_or_path.find_first_of("./") == std::string_view::npos) return built_in;
  io::Files files;
  const std::string path(name_or_path);
  const Result<std::string> text = io::read_text(files, path, kFileBytesMax);
  if (!text) return forward_error(text);
  return parse_document(*text, path);
}

}  // namespace

Result<Profile> parse_profile(std::string_view json) {
  const Result<Json> document = parse_document(json, "given");
  if (!document) return forward_error(document);
  return read_profile(*document);
}

Result<Profile> find_profile(std::string_view name_or_path) {
  const Result<Json> document = read_document(name_or_path);
  if (!document) return forward_error(document);
  return read_profile(*document);
}

Result<std::string> find_profile_document(std::string_view name_or_path) {
  const Result<Json> document = read_document(name_or_path);
  if (!document) return forward_error(document);
  if (const Result<Profile> profile = read_profile(*document); !profile) {
    return forward_error(profile);
  }
  return document->dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace unstarve::emulated
