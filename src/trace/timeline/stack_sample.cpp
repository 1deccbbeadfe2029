#include "trace/timeline/stack_sample.h"

#include <nlohmann/json.hpp>

#include "trace/json/json_text.h"

namespace unstarve::trace {

namespace {

constexpr std::size_t kMostCallers = 16;

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto entry = object.find(key);
  return entry != object.end() && entry->is_string() ? entry->get<std::string>() : std::string();
}

std::vector<std::string> texts(const nlohmann::json& object, const char* key) {
  std::vector<std::string> found;
  const auto entry = object.find(key);
  if (entry == object.end() || !entry->is_array()) return found;
  for (const nlohmann::json& text : *entry) {
    if (text.is_string() && found.size() < kMostCallers) found.push_back(text.get<std::string>());
  }
  return found;
}

}  // namespace

Stack parse_stack(std::string_view text) {
  Stack stack;
  const nlohmann::json object = parse_json(text);
  if (!object.is_object()) return stack;
  for (const std::string& mark : texts(object, "in")) {
    if (mark == "fetch") stack.in_fetch = true;
    if (mark == "wait") stack.in_wait = true;
    if (mark == "collate") stack.in_collate = true;
    if (mark == "decode") stack.in_decode = true;
    if (mark == "jpeg") stack.in_jpeg = true;
    if (mark == "png") stack.in_png = true;
    if (mark == "sync") stack.in_sync = true;
    if (mark == "order") stack.in_order = true;
  }
  stack.line = text_of(object, "line");
  stack.function = text_of(object, "function");
  stack.call = text_of(object, "call");
  stack.without_wait = text_of(object, "without_wait");
  stack.callee = text_of(object, "callee");
  stack.top = text_of(object, "top");
  stack.callers = texts(object, "callers");
  stack.transform = text_of(object, "transform");
  stack.transform_place = text_of(object, "transform_place");
  return stack;
}

}  // namespace unstarve::trace
