#include "feed/pipeline/loader_state.h"

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace unstarve::feed {
namespace {

constexpr std::string_view kFormat = "unstarve.loader_state/1";
constexpr std::string_view kFormatName = "unstarve.loader_state/";
constexpr std::array<std::string_view, 3> kOrders = {"shuffled", "sequential", "submitted"};

tl::unexpected<Error> broken(std::string_view why) {
  return fail(ErrorCode::kCorruptData, "not the state of a loader: {}", why);
}

std::string write_steps(const std::vector<std::uint32_t>& indices) {
  std::string text;
  std::uint32_t before = 0;
  for (const std::uint32_t index : indices) {
    text += text.empty() ? fmt::format("{}", index) : fmt::format(",+{}", index - before);
    before = index;
  }
  return text;
}

Result<std::vector<std::uint32_t>> read_steps(std::string_view text) {
  std::vector<std::uint32_t> indices;
  std::uint64_t index = 0;
  while (!text.empty()) {
    if (!indices.empty()) {
      if (text.substr(0, 2) != ",+") return broken("`bad` is not a list of steps");
      text.remove_prefix(2);
    }
    std::uint32_t step = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (error != std::errc()) return broken("`bad` is not a list of steps");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    index += step;
    if (index > std::numeric_limits<std::uint32_t>::max()) return broken("`bad` goes too far");
    indices.push_back(static_cast<std::uint32_t>(index));
  }
  return indices;
}

/// The unsigned number of that name.
Status read_number(const nlohmann::json& object, const char* name, std::uint64_t& value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) {
    return broken(fmt::format("`{}` is not a number above zero", name));
  }
  value = found->get<std::uint64_t>();
  return {};
}

Result<std::string> read_text(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    return broken(fmt::format("`{}` is not a text", name));
  }
  return found->get<std::string>();
}

Status check_format(const nlohmann::json& object) {
  if (!object.is_object()) return broken("not a JSON object");
  const Result<std::string> format = read_text(object, "format");
  if (!format) return forward_error(format);
  if (*format == kFormat) return {};
  if (format->compare(0, kFormatName.size(), kFormatName) != 0) {
    return broken(fmt::format("its format is {}", format->substr(0, 64)));
  }
  return fail(ErrorCode::kNotSupported,
              "the loader's state has the format {}, this version reads {}: use the version that "
              "saved it",
              format->substr(0, 64), kFormat);
}

Status read_texts(const nlohmann::json& object, LoaderState& state) {
  const Result<std::string> order = read_text(object, "order");
  if (!order) return forward_error(order);
  std::size_t which = 0;
  while (which < kOrders.size() && kOrders[which] != *order) ++which;
  if (which == kOrders.size()) return broken("`order` has an unknown value");
  state.order = static_cast<LoaderState::Order>(which);

  const Result<std::string> digest = read_text(object, "fingerprint");
  if (!digest) return forward_error(digest);
  const char* end = digest->data() + digest->size();
  const auto parsed = std::from_chars(digest->data(), end, state.fingerprint, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return broken("`fingerprint` is no digest");

  const Result<std::string> bad = read_text(object, "bad");
  if (!bad) return forward_error(bad);
  Result<std::vector<std::uint32_t>> indices = read_steps(*bad);
  if (!indices) return forward_error(indices);
  state.bad = std::move(*indices);
  return {};
}

}  // namespace

std::string to_json(const LoaderState& state) {
  nlohmann::ordered_json object;
  object["format"] = kFormat;
  object["seed"] = state.seed;
  object["order"] = kOrders[static_cast<std::size_t>(state.order)];
  object["epoch"] = state.position.epoch;
  object["consumed"] = state.position.consumed;
  object["batches"] = state.position.batches;
  object["samples"] = state.samples;
  object["fingerprint"] = fmt::format("{:016x}", state.fingerprint);
  object["bad"] = write_steps(state.bad);
  return object.dump();
}

Result<LoaderState> parse_loader_state(std::string_view json) {
  // What nests deeper is none of ours, and would take a frame of the stack for each level.
  const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    return depth < 8;
  };
  const nlohmann::json object = nlohmann::json::parse(json, is_shallow, false);
  if (Status status = check_format(object); !status) return forward_error(status);
  LoaderState state;
  std::uint64_t epoch = 0;
  Status status = read_number(object, "seed", state.seed);
  if (status) status = read_number(object, "epoch", epoch);
  if (status) status = read_number(object, "consumed", state.position.consumed);
  if (status) status = read_number(object, "batches", state.position.batches);
  if (status) status = read_number(object, "samples", state.samples);
  if (status) status = read_texts(object, state);
  if (!status) return forward_error(status);
  if (epoch > std::numeric_limits<std::uint32_t>::max()) return broken("`epoch` is too large");
  state.position.epoch = static_cast<std::uint32_t>(epoch);
  return state;
}

Status check_restorable(const LoaderState& saved, const LoaderState& own) {
  if (saved.samples != own.samples || saved.fingerprint != own.fingerprint) {
    return fail(ErrorCode::kInvalidArgument,
                "the state was saved with another data set: {} samples with the digest {:016x}, "
                "here are {} with {:016x}; begin anew, or open the data set that it was saved with",
                saved.samples, saved.fingerprint, own.samples, own.fingerprint);
  }
  if (saved.seed != own.seed) {
    return fail(ErrorCode::kInvalidArgument,
                "the state was saved with the seed {}, this loader has {}: open it with that seed",
                saved.seed, own.seed);
  }
  if (saved.order != LoaderState::Order::kSubmitted && saved.order != own.order) {
    return fail(ErrorCode::kInvalidArgument,
                "the state was saved in {} order, this loader's is {}: set shuffle as it was",
                kOrders[static_cast<std::size_t>(saved.order)],
                kOrders[static_cast<std::size_t>(own.order)]);
  }
  return {};
}

}  // namespace unstarve::feed
