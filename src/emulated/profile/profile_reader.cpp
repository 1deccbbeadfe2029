#include "emulated/profile/profile_reader.h"

#include <cmath>

namespace unstarve::emulated {

void ProfileReader::enter(const char* name) {
  section_name_ = std::string(name) + ".";
  const auto section = document_.find(name);
  section_ = section != document_.end() && section->is_object() ? &*section : nullptr;
  if (section_ == nullptr) return;
  const auto source = section_->find("source");
  if (source != section_->end() && source->is_string()) {
    sources_.push_back(std::string(name) + ": " + source->get_ref<const std::string&>());
  }
}

void ProfileReader::reject(const char* key, const char* problem) {
  if (problem_.empty()) problem_ = fmt::format("{}{} {}", section_name_, key, problem);
}

const nlohmann::json* ProfileReader::find(const char* key) {
  const nlohmann::json* section = section_name_.empty() ? &document_ : section_;
  if (section == nullptr) {
    reject(key, "is missing");
    return nullptr;
  }
  const auto found = section->find(key);
  if (found != section->end()) return &*found;
  reject(key, "is missing");
  return nullptr;
}

void ProfileReader::number(const char* key, double& target, double min, double max) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_number()) return reject(key, "is no number");
  const double read = value->get<double>();
  if (!(read >= min && read <= max)) return reject(key, "is out of range");
  target = read;
}

void ProfileReader::integer(const char* key, std::int64_t& target, double min, double max) {
  double read = static_cast<double>(target);
  number(key, read, min, max);
  if (std::floor(read) != read) return reject(key, "is no whole number");
  target = static_cast<std::int64_t>(read);
}

void ProfileReader::integer(const char* key, int& target, double min, double max) {
  std::int64_t read = target;
  integer(key, read, min, max);
  target = static_cast<int>(read);
}

void ProfileReader::text(const char* key, std::string& target) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return reject(key, "is no text");
  target = value->get_ref<const std::string&>();
}

void ProfileReader::flag(const char* key, bool& target) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return reject(key, "is neither true nor false");
  target = value->get<bool>();
}

Status ProfileReader::status() const {
  if (problem_.empty()) return {};
  return fail(ErrorCode::kCorruptData, "GPU profile: {}", problem_);
}

}  // namespace unstarve::emulated
