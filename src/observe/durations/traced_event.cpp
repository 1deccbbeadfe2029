#include "observe/durations/traced_event.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>

namespace unstarve::observe {

namespace {

namespace json = simdjson::dom;

// A trace of a few steps has some 10,000 of each; the limits are for what is no sensible trace.
constexpr std::size_t kEventsMax = 20'000'000;
constexpr std::size_t kArgumentsMax = 64;
constexpr std::size_t kDimsMax = 8;

constexpr std::string_view kOperations[] = {
    "aten::mm",
    "aten::addmm",
    "aten::bmm",
    "aten::baddbmm",
    "aten::_addmm_activation",
    "aten::convolution_backward",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_backward_weight",
};

double number_of(json::element element, double otherwise) {
  double number = 0;
  if (element.get(number) == simdjson::SUCCESS && std::isfinite(number)) return number;
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return otherwise;
  // Some versions write times and ids as text.
  char* end = nullptr;
  const std::string copy(text.substr(0, 64));
  number = std::strtod(copy.c_str(), &end);
  return end != copy.c_str() && std::isfinite(number) ? number : otherwise;
}

double number_at(json::object object, std::string_view key, double otherwise) {
  json::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) return otherwise;
  return number_of(element, otherwise);
}

std::int64_t integer_at(json::object object, std::string_view key) {
  const double number = number_at(object, key, -1);
  return std::abs(number) < 9e18 ? static_cast<std::int64_t>(number) : -1;
}

std::string_view text_at(json::object object, std::string_view key) {
  std::string_view text;
  json::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) return {};
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

/// The thread of a process as one word, whether they are numbers or names.
std::string thread_of(json::object event) {
  std::string thread;
  for (const char* key : {"pid", "tid"}) {
    json::element element;
    if (event.at_key(key).get(element) != simdjson::SUCCESS) continue;
    thread += simdjson::minify(element) + "/";
  }
  return thread;
}

std::array<std::uint32_t, 3> shape_at(json::object args, std::string_view key) {
  std::array<std::uint32_t, 3> shape = {1, 1, 1};
  json::array list;
  json::element element;
  if (args.at_key(key).get(element) != simdjson::SUCCESS) return shape;
  if (element.get(list) != simdjson::SUCCESS) return shape;
  std::size_t axis = 0;
  for (const json::element size : list) {
    if (axis == 3) break;
    shape[axis++] = static_cast<std::uint32_t>(std::clamp(number_of(size, 1), 1.0, 4294967295.0));
  }
  return shape;
}

std::vector<std::int64_t> dims_of(json::element element) {
  std::vector<std::int64_t> dims;
  json::array list;
  if (element.get(list) != simdjson::SUCCESS) return dims;
  for (const json::element size : list) {
    if (dims.size() == kDimsMax) break;
    dims.push_back(static_cast<std::int64_t>(std::clamp(number_of(size, 0), 0.0, 1e12)));
  }
  return dims;
}

/// Calls `take` with each of a list's elements, if there is such a list.
template <class Take>
void each_at(json::object args, std::string_view key, Take take) {
  json::array list;
  json::element element;
  if (args.at_key(key).get(element) != simdjson::SUCCESS) return;
  if (element.get(list) != simdjson::SUCCESS) return;
  std::size_t count = 0;
  for (const json::element item : list) {
    if (count++ == kArgumentsMax) return;
    take(item);
  }
}

std::string text_of(json::element element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? std::string(text.substr(0, 256)) : std::string();
}

TracedOperation operation_of(json::object event, json::object args) {
  TracedOperation operation;
  operation.name = text_at(event, "name");
  operation.thread = thread_of(event);
  operation.start_us = number_at(event, "ts", 0);
  operation.duration_us = number_at(event, "dur", 0);
  each_at(args, "Input Dims", [&](json::element item) { operation.dims.push_back(dims_of(item)); });
  each_at(args, "Input type",
          [&](json::element item) { operation.types.push_back(text_of(item)); });
  each_at(args, "Concrete Inputs",
          [&](json::element item) { operation.values.push_back(text_of(item)); });
  return operation;
}

TracedKernel kernel_of(json::object event, json::object args) {
  TracedKernel kernel;
  kernel.name = text_at(event, "name");
  kernel.grid = shape_at(args, "grid");
  kernel.block = shape_at(args, "block");
  kernel.start_us = number_at(event, "ts", 0);
  kernel.duration_us = number_at(event, "dur", -1);
  kernel.correlation = integer_at(args, "correlation");
  return kernel;
}

}  // namespace

bool is_library_operation(std::string_view name) {
  return std::find(std::begin(kOperations), std::end(kOperations), name) != std::end(kOperations);
}

struct TracedEventReader::Impl {
  json::parser parser;
};

TracedEventReader::TracedEventReader() : impl_(std::make_unique<Impl>()) {}
TracedEventReader::~TracedEventReader() = default;

Status TracedEventReader::read(std::string_view text) {
  json::object event;
  const auto error = impl_->parser.parse(text.data(), text.size(), false).get(event);
  if (error != simdjson::SUCCESS) {
    return fail(ErrorCode::kCorruptData, "event with {}", simdjson::error_message(error));
  }
  if (text_at(event, "ph") != "X") return {};
  json::object args;
  if (event.at_key("args").get(args) != simdjson::SUCCESS) return {};
  const std::string_view category = text_at(event, "cat");
  if (kernels.size() + launches.size() + operations.size() >= kEventsMax) {
    return fail(ErrorCode::kNotSupported, "more than {} events", kEventsMax);
  }
  if (category == "kernel" || category == "Kernel") {
    kernels.push_back(kernel_of(event, args));
  } else if (category == "cuda_runtime" || category == "Runtime" || category == "cuda_driver") {
    if (text_at(event, "name").find("Launch") == std::string_view::npos) return {};
    launches.push_back(
        {integer_at(args, "correlation"), thread_of(event), number_at(event, "ts", 0)});
  } else if (category == "cpu_op" || category == "Operator") {
    if (is_library_operation(text_at(event, "name")))
      operations.push_back(operation_of(event, args));
  }
  return {};
}

Status TracedEventReader::read_devices(std::string_view text) {
  json::array list;
  const auto error = impl_->parser.parse(text.data(), text.size(), false).get(list);
  if (error != simdjson::SUCCESS) {
    return fail(ErrorCode::kCorruptData, "{}", simdjson::error_message(error));
  }
  for (const json::element element : list) {
    json::object object;
    if (element.get(object) != simdjson::SUCCESS) continue;
    TracedDevice device;
    device.name = text_at(object, "name").substr(0, 256);
    device.memory_bytes = integer_at(object, "totalGlobalMem");
    const auto small = [&](std::string_view key) {
      return static_cast<int>(std::clamp<std::int64_t>(integer_at(object, key), 0, 100'000));
    };
    device.multiprocessors = small("numSms");
    device.compute_major = small("computeMajor");
    device.compute_minor = small("computeMinor");
    devices.push_back(std::move(device));
  }
  return {};
}

}  // namespace unstarve::observe
