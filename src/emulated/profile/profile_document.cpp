#include "emulated/profile/profile_document.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "emulated/profile/profile.h"
#include "emulated/profile/profile_files.h"

namespace unstarve::emulated {

namespace {

using Json = nlohmann::json;

// A profile may be based on one that is based on another; more is a mistake, a circle at worst.
constexpr int kBasesMax = 4;

Result<Json> parse_object(std::string_view text, std::string_view name) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_object()) return document;
  return fail(ErrorCode::kCorruptData, "the GPU profile {} is no JSON object", name);
}

bool has_alias(const Json& document, std::string_view name) {
  const auto aliases = document.find("aliases");
  if (aliases == document.end() || !aliases->is_array()) return false;
  return std::any_of(aliases->begin(), aliases->end(), [&](const Json& alias) {
    return alias.is_string() && alias.get_ref<const std::string&>() == name;
  });
}

Result<Json> with_base(Json document, std::string_view name, int bases_left) {
  const auto base = document.find("based_on");
  if (base == document.end()) return document;
  if (!base->is_string() || bases_left == 0) {
    return fail(ErrorCode::kCorruptData, "based_on of the GPU profile {} names no profile", name);
  }
  const std::string base_name = *base;
  document.erase(base);
  for (const ProfileFile& file : profile_files()) {
    Result<Json> other = parse_object(file.json, file.name);
    if (!other) return other;
    if (file.name != base_name && !has_alias(*other, base_name)) continue;
    other = with_base(*std::move(other), file.name, bases_left - 1);
    if (!other) return other;
    other->erase("aliases");
    other->merge_patch(document);
    return other;
  }
  return fail(ErrorCode::kNotFound, "the GPU profile {} is based on {}, which there is not", name,
              base_name);
}

}  // namespace

Result<Json> parse_document(std::string_view text, std::string_view name) {
  Result<Json> document = parse_object(text, name);
  if (!document) return document;
  return with_base(*std::move(document), name, kBasesMax);
}

Result<Json> find_document(std::string_view name) {
  for (const ProfileFile& file : profile_files()) {
    Result<Json> document = parse_object(file.json, file.name);
    if (!document) return document;
    if (!document->contains("device_name")) continue;
    if (file.name == name || has_alias(*document, name)) {
      return with_base(*std::move(document), file.name, kBasesMax);
    }
  }
  return fail(ErrorCode::kNotFound, "there is no GPU profile \"{}\"; use a file or one of: {}",
              name, fmt::join(profile_names(), ", "));
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const ProfileFile& file : profile_files()) {
    const Result<Json> document = parse_object(file.json, file.name);
    if (document && document->contains("device_name")) names.emplace_back(file.name);
  }
  return names;
}

}  // namespace unstarve::emulated
