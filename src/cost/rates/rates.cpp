#include "cost/rates/rates.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/io/read.h"
#include "cost/rates/list_prices.h"
#include "trace/json/json_text.h"

namespace unstarve::cost {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kFileBytesMax = 1U << 20;

/// A value that a user may set, by its names and its range.
struct Setting {
  const char* key;       // in a file
  const char* option;    // on the command line
  const char* variable;  // of the environment
  double low;
  double high;
};
// A price of 0 is a machine that is paid for already.
constexpr Setting kPrice = {"usd_per_gpu_hour", "--price", "UNSTARVE_PRICE", 0, 1e6};
constexpr Setting kCarbon = {"carbon_g_per_kwh", "--carbon", "UNSTARVE_CARBON", 0, 1e5};
constexpr Setting kPue = {"pue", "--pue", "UNSTARVE_PUE", 1, 100};

Status check(const Setting& setting, double value, const std::string& said_by) {
  // Not the other way round: what is no number is in no range.
  if (value >= setting.low && value <= setting.high) return {};
  return fail(ErrorCode::kInvalidArgument, "{} must be {} to {}, and is {}", said_by, setting.low,
              setting.high, value);
}

Result<double> number_in(const Json& value, const Setting& setting, const std::string& said_by) {
  if (!value.is_number()) {
    return fail(ErrorCode::kInvalidArgument, "{} must be a number", said_by);
  }
  const double number = value.get<double>();
  if (const Status right = check(setting, number, said_by); !right) return forward_error(right);
  return number;
}

/// A number, or an object with it and its source.
Result<Rate> rate_in(const Json& value, const Setting& setting, const std::string& file) {
  const std::string said_by = fmt::format("{} in {}", setting.key, file);
  std::string source = file;
  const Json* number = &value;
  if (value.is_object()) {
    if (!value.contains("value")) {
      return fail(ErrorCode::kInvalidArgument, "{} lacks its \"value\"", said_by);
    }
    number = &value["value"];
    const auto named = value.find("source");
    if (named != value.end() && named->is_string()) source = named->get<std::string>();
  }
  const auto read = number_in(*number, setting, said_by);
  if (!read) return forward_error(read);
  return Rate{*read, source};
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// "list price of Lambda (1x NVIDIA A10), 2026-09-20"; of what names no provider, the file.
std::string price_source(const Json& entry, const std::string& file) {
  if (const std::string source = text_in(entry, "source"); !source.empty()) return source;
  const std::string provider = text_in(entry, "provider");
  if (provider.empty()) return file;
  const std::string offer = text_in(entry, "offer");
  const std::string date = text_in(entry, "date");
  return fmt::format("list price of {}{}{}", provider,
                     offer.empty() ? "" : fmt::format(" ({})", offer),
                     date.empty() ? "" : ", " + date);
}

Status read_price(const Json& entry, const std::string& file, SaidRates& said) {
  const std::string said_by = fmt::format("an entry of \"prices\" in {}", file);
  if (!entry.is_object() || !entry.contains("gpu") || !entry.contains(kPrice.key)) {
    return fail(ErrorCode::kInvalidArgument, "{} lacks its \"gpu\" or its \"{}\"", said_by,
                kPrice.key);
  }
  const auto price = number_in(entry[kPrice.key], kPrice, said_by);
  if (!price) return forward_error(price);
  const Json& gpu = entry["gpu"];
  const Json names = gpu.is_array() ? gpu : Json::array({gpu});
  for (const Json& name : names) {
    if (!name.is_string()) {
      return fail(ErrorCode::kInvalidArgument, "{}: \"gpu\" is a name or a list of names", said_by);
    }
    said.by_name[plain_name(name.get<std::string>())] = {*price, price_source(entry, file)};
  }
  return {};
}

/// One entry of a file.
Status read_entry(const std::string& key, const Json& value, const std::string& file,
                  SaidRates& said) {
  if (key == "about") return {};
  if (key == "prices") {
    if (!value.is_array()) {
      return fail(ErrorCode::kInvalidArgument, "\"prices\" in {} is no list", file);
    }
    for (const Json& entry : value) {
      if (const Status read = read_price(entry, file, said); !read) return read;
    }
    return {};
  }
  for (const auto& [setting, target] :
       {std::pair(&kPrice, &said.price), std::pair(&kCarbon, &said.carbon_g_per_kwh),
        std::pair(&kPue, &said.pue)}) {
    if (key != setting->key) continue;
    auto rate = rate_in(value, *setting, file);
    if (!rate) return forward_error(rate);
    *target = *std::move(rate);
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "'{}' in {} is not known; it may hold {}, {}, {}, prices and about", key, file,
              kPrice.key, kCarbon.key, kPue.key);
}

/// What a variable of the environment says; empty where it is not set.
Result<std::optional<Rate>> read_variable(const Setting& setting, const Environment& environment) {
  const char* const text = environment(setting.variable);
  if (text == nullptr || *text == '\0') return std::optional<Rate>();
  const std::string_view digits(text);
  double number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || end != digits.data() + digits.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} must be a number, and is '{}'", setting.variable,
                digits);
  }
  const Status right = check(setting, number, setting.variable);
  if (!right) return forward_error(right);
  return std::optional(Rate{number, setting.variable});
}

Result<std::optional<Rate>> read_wish(const Setting& setting, const std::optional<double>& wish) {
  if (!wish) return std::optional<Rate>();
  const Status right = check(setting, *wish, setting.option);
  if (!right) return forward_error(right);
  return std::optional(Rate{*wish, setting.option});
}

Result<SaidRates> all_said(Result<std::optional<Rate>> price, Result<std::optional<Rate>> carbon,
                           Result<std::optional<Rate>> pue) {
  for (const auto* const said : {&price, &carbon, &pue}) {
    if (!*said) return forward_error(*said);
  }
  return SaidRates{*std::move(price), {}, *std::move(carbon), *std::move(pue)};
}

Result<SaidRates> read_file(const std::string& path) {
  if (path.empty()) return SaidRates();
  const auto text = io::read_text(*io::plain_files(), path, kFileBytesMax);
  if (!text) return forward_error(text);
  return read_rates(*text, path);
}

/// What is said goes before what was said until now: prices by name too before one for all.
void overlay(SaidRates said, Rates& rates) {
  if (said.price || !said.by_name.empty()) rates.price = std::move(said.price);
  for (auto& [name, rate] : said.by_name) rates.by_name[name] = std::move(rate);
  if (said.carbon_g_per_kwh) rates.carbon_g_per_kwh = *std::move(said.carbon_g_per_kwh);
  if (said.pue) rates.pue = *std::move(said.pue);
}

}  // namespace

std::string plain_name(std::string_view gpu) {
  constexpr std::array<std::string_view, 4> kBefore = {"Emulated ", "NVIDIA ", "Tesla ",
                                                       "GeForce "};
  for (const std::string_view word : kBefore) {
    if (gpu.starts_with(word)) gpu.remove_prefix(word.size());
  }
  return std::string(gpu);
}

std::optional<Rate> Rates::price_of(const std::string& gpu) const {
  if (price) return price;
  const auto found = by_name.find(plain_name(gpu));
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

Result<SaidRates> read_rates(std::string_view text, const std::string& name) {
  const Json json = trace::parse_json(text);
  if (!json.is_object()) {
    return fail(ErrorCode::kCorruptData, "{} is no JSON object; docs/costs.md says what it holds",
                name);
  }
  SaidRates said;
  for (const auto& [key, value] : json.items()) {
    if (const Status read = read_entry(key, value, name, said); !read) return forward_error(read);
  }
  return said;
}

Rates default_rates() {
  Rates rates;
  rates.carbon_g_per_kwh = {475, "world average by the IEA, 2019, CodeCarbon's default"};
  rates.pue = {1, "without cooling"};
  auto listed = read_rates(list_prices(), "list_prices.json");
  UNSTARVE_CHECK(listed.has_value(), "the list of prices that was built in is not one");
  overlay(*std::move(listed), rates);
  return rates;
}

Result<Rates> find_rates(const RateWishes& wishes, const Environment& environment) {
  Rates rates = default_rates();
  for (auto& said :
       {all_said(read_variable(kPrice, environment), read_variable(kCarbon, environment),
                 read_variable(kPue, environment)),
        read_file(wishes.file),
        all_said(read_wish(kPrice, wishes.price), read_wish(kCarbon, wishes.carbon_g_per_kwh),
                 read_wish(kPue, wishes.pue))}) {
    if (!said) return forward_error(said);
    overlay(*said, rates);
  }
  return rates;
}

}  // namespace unstarve::cost
