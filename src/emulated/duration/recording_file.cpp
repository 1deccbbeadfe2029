#include <nlohmann/json.hpp>

#include "emulated/duration/duration_table.h"

namespace unstarve::emulated {

namespace {

using Json = nlohmann::json;

constexpr double kRecordedNsMax = 1e15;
constexpr double kSizeMax = 1e15;
constexpr double kGridMax = 4294967295.0;

struct NamedType {
  const char* name;
  NumberType type;
};
constexpr NamedType kRecordedTypes[] = {
    {"f64", NumberType::kF64},   {"f32", NumberType::kF32}, {"f16", NumberType::kF16},
    {"bf16", NumberType::kBf16}, {"f8", NumberType::kF8},   {"i8", NumberType::kI8},
    {"i32", NumberType::kI32},   {"i64", NumberType::kI64}, {"c64", NumberType::kC64},
    {"c128", NumberType::kC128},
};
constexpr const char* kPasses[] = {"forward", "input_gradient", "weight_gradient"};

const char* name_of(NumberType type) {
  for (const NamedType& known : kRecordedTypes) {
    if (known.type == type) return known.name;
  }
  return "f32";
}

/// Takes values out of a JSON text that anyone may have written: what does not fit makes it not ok.
class Row {
 public:
  explicit Row(const Json& row) : row_(row), ok_(row.is_object()) {}

  double number(const Json& value, double min, double max) {
    if (!value.is_number()) return fail_with(min);
    const double read = value.get<double>();
    return read >= min && read <= max ? read : fail_with(min);
  }
  const Json& at(const char* key) {
    static const Json nothing;
    const auto found = ok_ ? row_.find(key) : row_.end();
    return ok_ && found != row_.end() ? *found : nothing;
  }
  double number(const char* key, double min, double max) { return number(at(key), min, max); }
  std::int64_t integer(const char* key) {
    return static_cast<std::int64_t>(number(key, 0, kSizeMax));
  }
  std::array<std::int64_t, 3> sizes(const char* key) {
    std::array<std::int64_t, 3> sizes{};
    const Json& list = at(key);
    if (!list.is_array() || list.size() != 3) ok_ = false;
    for (std::size_t i = 0; ok_ && i < 3; ++i) {
      sizes[i] = static_cast<std::int64_t>(number(list[i], 0, kSizeMax));
    }
    return sizes;
  }
  NumberType type(const char* key) {
    const Json& value = at(key);
    for (const NamedType& known : kRecordedTypes) {
      if (value.is_string() && value.get_ref<const std::string&>() == known.name) return known.type;
    }
    ok_ = false;
    return NumberType::kF32;
  }
  std::string text(const char* key) {
    const Json& value = at(key);
    if (value.is_string()) return value.get_ref<const std::string&>();
    ok_ = false;
    return {};
  }
  void reject() { ok_ = false; }
  bool ok() const { return ok_; }

 private:
  double fail_with(double value) {
    ok_ = false;
    return value;
  }

  const Json& row_;
  bool ok_;
};

RecordedKernel read_kernel(Row& row) {
  RecordedKernel kernel;
  kernel.name = row.text("name");
  const Json& launches = row.at("launches");
  if (!launches.is_array()) row.reject();
  for (std::size_t i = 0; row.ok() && i < launches.size(); ++i) {
    const Json& launch = launches[i];
    if (!launch.is_array() || launch.size() != 8) {
      row.reject();
      break;
    }
    RecordedKernel::Launch read;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      read.grid[axis] = static_cast<std::uint32_t>(row.number(launch[axis], 1, kGridMax));
      read.block[axis] = static_cast<std::uint32_t>(row.number(launch[axis + 3], 1, kGridMax));
    }
    read.ns = row.number(launch[6], 0, kRecordedNsMax);
    read.count = static_cast<std::int64_t>(row.number(launch[7], 1, kSizeMax));
    kernel.launches.push_back(read);
  }
  return kernel;
}

RecordedMatmul read_matmul(Row& row) {
  RecordedMatmul matmul;
  matmul.work.m = row.integer("m");
  matmul.work.n = row.integer("n");
  matmul.work.k = row.integer("k");
  matmul.work.batch = row.integer("batch");
  matmul.work.input = row.type("type");
  matmul.work.output = matmul.work.input;
  matmul.ns = row.number("ns", 0, kRecordedNsMax);
  matmul.count = static_cast<std::int64_t>(row.number("count", 1, kSizeMax));
  return matmul;
}

RecordedConvolution read_convolution(Row& row) {
  RecordedConvolution convolution;
  ConvolutionWork& work = convolution.work;
  const std::string pass = row.text("pass");
  bool known = false;
  for (std::size_t i = 0; i < std::size(kPasses); ++i) {
    if (pass != kPasses[i]) continue;
    work.pass = static_cast<ConvolutionPass>(i);
    known = true;
  }
  if (!known) row.reject();
  work.batch = row.integer("batch");
  work.input_channels = row.integer("input_channels");
  work.output_channels = row.integer("output_channels");
  work.groups = row.integer("groups");
  work.type = row.type("type");
  work.input = row.sizes("input");
  work.filter = row.sizes("filter");
  work.output = row.sizes("output");
  work.stride = row.sizes("stride");
  convolution.ns = row.number("ns", 0, kRecordedNsMax);
  convolution.count = static_cast<std::int64_t>(row.number("count", 1, kSizeMax));
  return convolution;
}

template <class Read>
Status read_rows(const Json& document, const char* key, Read read) {
  const auto rows = document.find(key);
  if (rows == document.end() || !rows->is_array()) {
    return fail(ErrorCode::kCorruptData, "recorded durations: {} is no list", key);
  }
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Row row((*rows)[i]);
    read(row);
    if (row.ok()) continue;
    return fail(ErrorCode::kCorruptData, "recorded durations: row {} of {} is damaged", i, key);
  }
  return {};
}

Json json_of(const RecordedKernel& kernel) {
  Json launches = Json::array();
  for (const RecordedKernel::Launch& launch : kernel.launches) {
    launches.push_back({launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                        launch.block[1], launch.block[2], launch.ns, launch.count});
  }
  return {{"name", kernel.name}, {"launches", std::move(launches)}};
}

Json json_of(const RecordedMatmul& matmul) {
  const MatmulWork& work = matmul.work;
  return {{"m", work.m},
          {"n", work.n},
          {"k", work.k},
          {"batch", work.batch},
          {"type", name_of(work.input)},
          {"ns", matmul.ns},
          {"count", matmul.count}};
}

Json json_of(const RecordedConvolution& convolution) {
  const ConvolutionWork& work = convolution.work;
  return {{"pass", kPasses[static_cast<std::size_t>(work.pass)]},
          {"batch", work.batch},
          {"input_channels", work.input_channels},
          {"output_channels", work.output_channels},
          {"groups", work.groups},
          {"type", name_of(work.type)},
          {"input", work.input},
          {"filter", work.filter},
          {"output", work.output},
          {"stride", work.stride},
          {"ns", convolution.ns},
          {"count", convolution.count}};
}

template <class Rows>
Json json_rows(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

}  // namespace

std::string format_recording(const Recording& recording) {
  const Json document = {{"format", "unstarve-gpu-durations"},
                         {"version", 1},
                         {"source", recording.source},
                         {"device", recording.device},
                         {"kernels", json_rows(recording.kernels)},
                         {"matmuls", json_rows(recording.matmuls)},
                         {"convolutions", json_rows(recording.convolutions)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<Recording> parse_recording(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("format", Json()) != "unstarve-gpu-durations") {
    return fail(ErrorCode::kCorruptData, "this is no file of recorded durations");
  }
  if (document.value("version", Json()) != 1) {
    return fail(ErrorCode::kNotSupported, "recorded durations: version is not 1, the one known");
  }
  Recording recording;
  Row head(document);
  recording.source = head.text("source");
  recording.device = head.text("device");
  if (!head.ok()) return fail(ErrorCode::kCorruptData, "recorded durations: no source or device");
  Status status = read_rows(document, "kernels",
                            [&](Row& row) { recording.kernels.push_back(read_kernel(row)); });
  if (status) {
    status = read_rows(document, "matmuls",
                       [&](Row& row) { recording.matmuls.push_back(read_matmul(row)); });
  }
  if (status) {
    status = read_rows(document, "convolutions",
                       [&](Row& row) { recording.convolutions.push_back(read_convolution(row)); });
  }
  if (!status) return forward_error(status);
  return recording;
}

}  // namespace unstarve::emulated
