#include "observe/import/event_category.h"

#include <cstring>
#include <optional>

namespace unstarve::observe {

namespace {

struct CategoryName {
  std::string_view name;
  EventCategory category;
};

// The frequent ones first. The capitalised names are those of PyTorch 1.8 and 1.9.
constexpr CategoryName kCategoryNames[] = {
    {"cpu_op", EventCategory::kAnnotation},
    {"cuda_runtime", EventCategory::kHostCall},
    {"kernel", EventCategory::kKernel},
    {"user_annotation", EventCategory::kAnnotation},
    {"gpu_memcpy", EventCategory::kCopy},
    {"gpu_memset", EventCategory::kMemset},
    {"cuda_driver", EventCategory::kHostCall},
    {"Operator", EventCategory::kAnnotation},
    {"Runtime", EventCategory::kHostCall},
    {"Kernel", EventCategory::kKernel},
    {"Memcpy", EventCategory::kCopy},
    {"Memset", EventCategory::kMemset},
    {"hip_runtime", EventCategory::kHostCall},
    {"xpu_runtime", EventCategory::kHostCall},
    {"xpu_driver", EventCategory::kHostCall},
    {"privateuse1_runtime", EventCategory::kHostCall},
    {"privateuse1_driver", EventCategory::kHostCall},
    {"mtia_ccp_events", EventCategory::kMtia},
    {"mtia_runtime", EventCategory::kMtia},
    {"mtia_workloadd", EventCategory::kMtia},
    {"mtia_insight", EventCategory::kMtia},
    {"mtia_counters", EventCategory::kMtia},
    {"hpu_op", EventCategory::kHpu},
};

/// Walks over the members of one object as long as their values are strings without escapes or
/// plain numbers; whatever is not that ends the walk.
class MemberWalk {
 public:
  explicit MemberWalk(std::string_view object)
      : at_(object.data() + 1), end_(object.data() + object.size()) {}

  struct Member {
    std::string_view key;
    std::string_view value;  // a string's text, or empty
  };

  std::optional<Member> next() {
    Member member;
    skip_separators();
    if (!take_string(member.key)) return std::nullopt;
    skip_spaces();
    if (at_ >= end_ || *at_ != ':') return std::nullopt;
    ++at_;
    skip_spaces();
    if (at_ >= end_) return std::nullopt;
    if (*at_ == '"') {
      if (!take_string(member.value)) return std::nullopt;
    } else if (*at_ == '{' || *at_ == '[') {
      return std::nullopt;
    } else {
      while (at_ < end_ && *at_ != ',' && *at_ != '}') ++at_;
    }
    return member;
  }

 private:
  bool is_space() const { return *at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'; }
  void skip_spaces() {
    while (at_ < end_ && is_space()) ++at_;
  }
  void skip_separators() {
    while (at_ < end_ && (is_space() || *at_ == ',')) ++at_;
  }
  bool take_string(std::string_view& text) {
    if (at_ >= end_ || *at_ != '"') return false;
    const char* const first = at_ + 1;
    const void* const quote = std::memchr(first, '"', static_cast<std::size_t>(end_ - first));
    if (quote == nullptr) return false;
    const char* const last = static_cast<const char*>(quote);
    if (last != first && last[-1] == '\\') return false;
    text = std::string_view(first, static_cast<std::size_t>(last - first));
    at_ = last + 1;
    return true;
  }

  const char* at_;
  const char* end_;
};

}  // namespace

EventCategory parse_category(std::string_view category) {
  for (const CategoryName& known : kCategoryNames) {
    if (known.name == category) return known.category;
  }
  return EventCategory::kOther;
}

bool is_step_name(std::string_view name) { return name.starts_with("ProfilerStep"); }

bool is_loader_wait_name(std::string_view name) {
  return name.starts_with("enumerate(Data") && name.find("__next__") != name.npos;
}

bool worth_reading(std::string_view event_json) {
  MemberWalk walk(event_json);
  std::optional<EventCategory> category;
  bool complete = false;  // ph X, so that what we see of the event decides alone
  bool common_name = false;
  while (const auto member = walk.next()) {
    if (member->key == "ph") {
      if (member->value == "B" || member->value == "E") return true;
      if (member->value != "X") return false;
      complete = true;
    } else if (member->key == "cat") {
      category = parse_category(member->value);
    } else if (member->key == "name") {
      common_name = !is_step_name(member->value) && !is_loader_wait_name(member->value);
    }
    if (!complete || !category) continue;
    if (*category == EventCategory::kOther) return false;
    if (*category != EventCategory::kAnnotation) return true;
    if (common_name) return false;
  }
  return true;
}

}  // namespace unstarve::observe
