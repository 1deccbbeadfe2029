#include "emulated/process/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "base/io/files.h"
#include "base/io/read.h"
#include "emulated/engine/operation.h"

namespace unstarve::emulated {

namespace {

constexpr int kGpusMax = 64;
constexpr std::size_t kSettingsBytesMax = 1 << 20;
constexpr double kStepSecondsMax = 86'400;

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t step_ns_of(const nlohmann::json& settings) {
  const auto found = settings.find("step_time_s");
  const double seconds = found != settings.end() && found->is_number() ? found->get<double>() : 0.0;
  return seconds > 0 && seconds <= kStepSecondsMax ? std::llround(seconds * 1e9) : 0;
}

std::int64_t whole_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Up to the first that cannot be read: who prepared the settings has read them already.
std::vector<Profile> priced_kinds(const nlohmann::json& settings) {
  std::vector<Profile> kinds;
  const auto found = settings.find("priced");
  if (found == settings.end() || !found->is_array()) return kinds;
  for (const nlohmann::json& document : *found) {
    if (kinds.size() == kPricesMax) break;
    Result<Profile> profile = parse_profile(document.dump());
    if (!profile) break;
    kinds.push_back(std::move(*profile));
  }
  return kinds;
}

int find_by_name(std::string_view name, int gpus) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) {
    return number >= 0 && number < gpus ? number : -1;
  }
  if (name.size() <= 4 || name.substr(0, 4) != "GPU-") return -1;
  int found = -1;
  for (int i = 0; i < gpus; ++i) {
    if (std::string_view(uuid_text(i)).substr(0, name.size()) != name) continue;
    if (found >= 0) return -1;  // two begin so
    found = i;
  }
  return found;
}

}  // namespace

std::string uuid_text(int machine_index) {
  std::array<unsigned char, 16> bytes = {'u', 'n', 's', 't', 'a', 'r', 'v', 'e',
                                         '-', 'e', 'm', 'u', 0,   0,   0,   0};
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[12 + i] = static_cast<unsigned char>(machine_index >> (24 - 8 * i));
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::vector<int> visible_gpus(int gpus, const char* variable) {
  std::vector<int> visible;
  if (variable == nullptr) {
    visible.resize(static_cast<std::size_t>(gpus));
    std::iota(visible.begin(), visible.end(), 0);
    return visible;
  }
  std::string_view rest = variable;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    const int number = find_by_name(name, gpus);
    if (number < 0) break;
    // Naming one twice is an error of the whole list, as in the driver.
    if (std::find(visible.begin(), visible.end(), number) != visible.end()) return {};
    visible.push_back(number);
  }
  return visible;
}

Result<Settings> read_settings() {
  const std::string path = variable("UNSTARVE_EMULATED_GPU");
  if (path.empty()) return fail(ErrorCode::kNotFound, "UNSTARVE_EMULATED_GPU names no file");
  io::Files files;
  const Result<std::string> text = io::read_text(files, path, kSettingsBytesMax);
  if (!text) return forward_error(text);
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  const auto profile = json.is_object() ? json.find("profile") : json.end();
  if (!json.is_object() || profile == json.end()) {
    return fail(ErrorCode::kCorruptData, "{} is not the settings of an emulation", path);
  }
  Result<Profile> parsed = parse_profile(profile->dump());
  if (!parsed) return forward_error(parsed);
  Settings settings;
  settings.profile = std::move(*parsed);
  const auto gpus = json.find("gpus");
  const bool counted = gpus != json.end() && gpus->is_number_integer();
  const int count = counted ? std::clamp(gpus->get<int>(), 0, kGpusMax) : 1;
  settings.gpus = count;
  settings.visible = visible_gpus(count, std::getenv("CUDA_VISIBLE_DEVICES"));
  settings.durations = text_of(json, "durations");
  const auto scale = json.find("scale");
  if (scale != json.end() && scale->is_number()) settings.scale = scale->get<double>();
  settings.step_ns = step_ns_of(json);
  settings.true_every = std::max<std::int64_t>(whole_of(json, "true_every"), 0);
  settings.priced = priced_kinds(json);
  settings.state_folder = text_of(json, "state");
  if (!settings.state_folder.empty()) settings.rings_folder = settings.state_folder + "/rings";
  return settings;
}

}  // namespace unstarve::emulated
