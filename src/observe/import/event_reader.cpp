#include "observe/import/event_reader.h"

#include <simdjson.h>

#include <charconv>

namespace unstarve::observe {

namespace {

namespace json = simdjson::ondemand;

/// The text of a string, or of whatever else the value is as it is written.
std::string_view text_of(json::value value) {
  const std::string_view token = value.raw_json_token();
  const std::string_view plain = without_quotes(token);
  if (token.empty() || token[0] != '"' || plain.find('\\') == plain.npos) return plain;
  std::string_view unescaped;
  // Some profilers forget to escape backslashes; such a name is kept as it is written.
  return value.get_string().get(unescaped) == simdjson::SUCCESS ? unescaped : plain;
}

/// A member's name as it is written. None of those looked for needs an escape.
template <class Member>
simdjson::error_code key_of(Member& member, std::string_view& key) {
  json::raw_json_string raw;
  if (const auto error = member.key().get(raw)) return error;
  const char* end = raw.raw();
  while (*end != '"') ++end;  // simdjson has checked that there is one
  key = std::string_view(raw.raw(), static_cast<std::size_t>(end - raw.raw()));
  return simdjson::SUCCESS;
}

/// 7, "7", "0x0".
std::optional<std::int64_t> number_of(json::value value) {
  return parse_integer(value.raw_json_token());
}

std::optional<double> real_of(json::value value) {
  const std::string_view text = without_quotes(value.raw_json_token());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

simdjson::error_code read_args(json::value value, EventFields& fields) {
  json::object args;
  // A value of another type is as good as none.
  if (value.get_object().get(args) != simdjson::SUCCESS) return simdjson::SUCCESS;
  for (auto member : args) {
    std::string_view key;
    json::value item;
    if (const auto error = key_of(member, key)) return error;
    if (const auto error = member.value().get(item)) return error;
    if (key == "device") {
      fields.device = number_of(item);
    } else if (key == "stream") {
      fields.stream = number_of(item);
    } else if (key == "correlation") {
      fields.correlation = number_of(item);
    } else if (key == "External id" || key == "external id") {
      fields.external_id = number_of(item);
    } else if (key == "bytes" || key == "size") {
      fields.bytes = number_of(item);
    } else if (key == "memory bandwidth (GB/s)") {
      fields.gigabytes_per_s = real_of(item);
    } else if (key == "kind") {
      fields.copy_kind = text_of(item);
    }
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_members(json::object event, EventFields& fields) {
  for (auto member : event) {
    std::string_view key;
    json::value item;
    if (const auto error = key_of(member, key)) return error;
    if (const auto error = member.value().get(item)) return error;
    if (key == "args") {
      if (const auto error = read_args(item, fields)) return error;
    } else if (key == "ph") {
      const std::string_view phase = text_of(item);
      fields.phase = phase.size() == 1 ? phase[0] : '\0';
    } else if (key == "cat") {
      fields.category = parse_category(text_of(item));
    } else if (key == "name") {
      fields.name = text_of(item);
    } else if (key == "ts") {
      fields.start = parse_decimal(item.raw_json_token());
    } else if (key == "dur") {
      fields.duration = parse_decimal(item.raw_json_token());
    } else if (key == "pid") {
      fields.process = text_of(item);
    } else if (key == "tid") {
      fields.thread = text_of(item);
    }
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_device(json::object object, trace::DeviceInfo& device) {
  std::optional<std::int64_t> major;
  std::optional<std::int64_t> minor;
  for (auto member : object) {
    std::string_view key;
    json::value item;
    if (const auto error = key_of(member, key)) return error;
    if (const auto error = member.value().get(item)) return error;
    const auto number = [&]() { return number_of(item); };
    if (key == "id") {
      device.index = static_cast<std::int32_t>(number().value_or(-1));
    } else if (key == "name") {
      device.name = std::string(text_of(item).substr(0, 256));
      // Emulated GPUs say so in their names (emulated/profile).
      device.emulated = device.name.rfind("Emulated ", 0) == 0;
    } else if (key == "totalGlobalMem") {
      if (const auto bytes = number()) device.total_memory_bytes = *bytes;
    } else if (key == "numSms") {
      if (const auto count = number()) device.multiprocessors = static_cast<std::int32_t>(*count);
    } else if (key == "computeMajor") {
      major = number();
    } else if (key == "computeMinor") {
      minor = number();
    }
  }
  if (major && minor) {
    device.compute_capability = static_cast<double>(*major) + static_cast<double>(*minor) / 10.0;
  }
  return simdjson::SUCCESS;
}

}  // namespace

struct EventReader::Impl {
  json::parser parser;
};

EventReader::EventReader() : impl_(std::make_unique<Impl>()) {}
EventReader::~EventReader() = default;

Status EventReader::read_event(std::string_view event_json, EventFields& fields,
                               std::size_t& error_at) {
  fields = EventFields();
  error_at = 0;
  json::document document;
  json::object event;
  const simdjson::padded_string_view padded(event_json.data(), event_json.size(),
                                            event_json.size() + simdjson::SIMDJSON_PADDING);
  simdjson::error_code error = impl_->parser.iterate(padded).get(document);
  const bool opened = error == simdjson::SUCCESS;
  if (opened) error = document.get_object().get(event);
  if (error == simdjson::SUCCESS) error = read_members(event, fields);
  if (error == simdjson::SUCCESS) return {};
  const char* where = nullptr;
  if (opened && document.current_location().get(where) == simdjson::SUCCESS) {
    if (where >= event_json.data() && where <= event_json.data() + event_json.size()) {
      error_at = static_cast<std::size_t>(where - event_json.data());
    }
  }
  return fail(ErrorCode::kCorruptData, "{}", simdjson::error_message(error));
}

Status EventReader::read_devices(std::string_view array_json,
                                 std::vector<trace::DeviceInfo>& devices) {
  const simdjson::padded_string_view padded(array_json.data(), array_json.size(),
                                            array_json.size() + simdjson::SIMDJSON_PADDING);
  json::document document;
  json::array list;
  simdjson::error_code error = impl_->parser.iterate(padded).get(document);
  if (error == simdjson::SUCCESS) error = document.get_array().get(list);
  if (error == simdjson::SUCCESS) {
    for (auto element : list) {
      json::object object;
      error = element.get_object().get(object);
      trace::DeviceInfo device;
      if (error == simdjson::SUCCESS) error = read_device(object, device);
      if (error != simdjson::SUCCESS) break;
      devices.push_back(std::move(device));
    }
  }
  if (error == simdjson::SUCCESS) return {};
  return fail(ErrorCode::kCorruptData, "{}", simdjson::error_message(error));
}

std::optional<trace::RankNumber> EventReader::read_rank(std::string_view object_json) {
  constexpr std::int64_t kMost = 1 << 24;
  const simdjson::padded_string_view padded(object_json.data(), object_json.size(),
                                            object_json.size() + simdjson::SIMDJSON_PADDING);
  json::document document;
  json::object object;
  trace::RankNumber number;
  if (impl_->parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
  if (document.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  if (object.find_field_unordered("rank").get(number.rank) != simdjson::SUCCESS ||
      object.find_field_unordered("world_size").get(number.ranks) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const bool sane = number.ranks <= kMost && number.rank >= 0 && number.rank < number.ranks;
  return sane ? std::optional(number) : std::nullopt;
}

}  // namespace unstarve::observe
