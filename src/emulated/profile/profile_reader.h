#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace unstarve::emulated {

/// Takes fields out of a document, section by section; the first that is absent, of another type
/// or out of its range stays as the error.
class ProfileReader {
 public:
  /// What an integer of a profile may be at most: bytes, ns and kHz of any real device fit.
  static constexpr double kIntegerMax = 1e15;

  explicit ProfileReader(const nlohmann::json& document) : document_(document) {}

  /// The fields read from now on are `name`'s; its source, if it has one, is added to sources().
  void enter(const char* name);
  void number(const char* key, double& target, double min, double max);
  void ratio(const char* key, double& target) { number(key, target, 0, 1); }
  void integer(const char* key, std::int64_t& target, double min, double max);
  void integer(const char* key, int& target, double min, double max);
  void text(const char* key, std::string& target);
  void flag(const char* key, bool& target);
  void reject(const char* key, const char* problem);

  std::vector<std::string> take_sources() { return std::move(sources_); }
  Status status() const;

 private:
  const nlohmann::json* find(const char* key);

  const nlohmann::json& document_;
  const nlohmann::json* section_ = nullptr;  // nullptr: the document has none of that name
  std::string section_name_;                 // "peak.", or empty for the document itself
  std::vector<std::string> sources_;
  std::string problem_;
};

}  // namespace unstarve::emulated
