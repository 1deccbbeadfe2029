#include "tune/levers/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace unstarve::tune {

namespace {

constexpr std::int64_t kMostWorkers = 64;
constexpr std::size_t kMostDoublings = 3;

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
  return value;
}

/// Where the option's value stands, and how many letters of that word come before it.
struct Place {
  std::size_t word = 0;
  std::size_t from = 0;
};

std::optional<Place> find_value(const std::vector<std::string>& command,
                                const std::string& option) {
  std::optional<Place> found;  // the last one counts, as with argparse
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == option && i + 1 < command.size()) found = Place{i + 1, 0};
    if (command[i].starts_with(option + "=")) found = Place{i, option.size() + 1};
  }
  return found;
}

Lever hook_lever(const std::string& name, Numerics numerics, const std::string& what,
                 const std::string& permanent) {
  Lever lever;
  lever.id = lever.hook = name;
  lever.settings = "{}";
  lever.numerics = numerics;
  lever.what = what;
  lever.permanent = permanent;
  return lever;
}

void add_threads(const TunedJob& job, std::vector<Lever>& levers) {
  std::set<std::int64_t> counts = {1, job.cpus / 2, job.cpus};
  for (const std::int64_t count : counts) {
    if (count < 1 || count == job.threads) continue;
    Lever lever = hook_lever("threads", Numerics::kExact,
                             fmt::format("{} threads for operations on the CPU", count),
                             fmt::format("torch.set_num_threads({}) at the script's start", count));
    lever.id = fmt::format("threads={}", count);
    lever.settings = fmt::format(R"({{"count": {}}})", count);
    lever.group = "threads";
    levers.push_back(std::move(lever));
  }
}

void add_cpu_levers(const TunedJob& job, std::vector<Lever>& levers) {
  add_threads(job, levers);
  Lever memory = hook_lever("kept_memory", Numerics::kExact,
                            "glibc keeps the memory that tensors free for the next step",
                            "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1099511627776 in the "
                            "environment of the command");
  memory.environment = {{"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "1099511627776"}};
  memory.settings = R"({"set": true})";
  levers.push_back(std::move(memory));
}

void add_gpu_levers(std::vector<Lever>& levers) {
  Lever segments = hook_lever("expandable_segments", Numerics::kExact,
                              "the allocator of GPU memory grows its segments",
                              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment "
                              "of the command");
  segments.environment = {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}};
  segments.settings = R"({"set": true})";
  levers.push_back(std::move(segments));
  levers.push_back(hook_lever("cudnn_benchmark", Numerics::kRounding,
                              "cuDNN measures which algorithm is the fastest",
                              "torch.backends.cudnn.benchmark = True at the script's start"));
}

void add_precisions(const std::string& device, std::vector<Lever>& levers) {
  Lever bf16 = hook_lever("bf16_autocast", Numerics::kRounding, "the model's forward in BF16",
                          fmt::format("with torch.autocast(\"{}\", dtype=torch.bfloat16): around "
                                      "the call of the model; the loss of its output.float()",
                                      device));
  Lever fp16 = bf16;
  fp16.id = fp16.hook = "fp16_autocast";
  fp16.what = "the model's forward in FP16";
  fp16.permanent = fmt::format(
      "with torch.autocast(\"{}\", dtype=torch.float16): around the call of the model; the loss of "
      "its output.float()",
      device);
  const bool gpu = device == "cuda";
  Lever products =
      hook_lever("matmul_precision", Numerics::kRounding,
                 gpu ? "products of matrices in TF32" : "products of matrices in BF16 by oneDNN",
                 fmt::format("torch.set_float32_matmul_precision(\"{}\") at the script's start",
                             gpu ? "high" : "medium"));
  for (Lever* const lever : {&bf16, &fp16, &products}) {
    lever->group = "precision";
    levers.push_back(std::move(*lever));
  }
}

void add_compilers(std::vector<Lever>& levers) {
  Lever plain = hook_lever("compile", Numerics::kRounding, "torch.compile of the model",
                           "model = torch.compile(model) before the training");
  Lever graphs = hook_lever("compile_reduce_overhead", Numerics::kRounding,
                            "torch.compile of the model, with CUDA graphs",
                            "model = torch.compile(model, mode=\"reduce-overhead\")");
  for (Lever* const lever : {&plain, &graphs}) {
    lever->group = "compile";
    levers.push_back(std::move(*lever));
  }
}

std::vector<std::int64_t> values_around(const Argument& argument, std::int64_t cpus) {
  std::vector<std::int64_t> values;
  if (argument.name == "workers") {
    const std::int64_t most = std::min(kMostWorkers, std::max<std::int64_t>(4, 2 * cpus));
    for (std::int64_t value = 1; value <= most; value *= 2) values.push_back(value);
  } else {
    std::int64_t value = argument.value;
    for (std::size_t i = 0; i < kMostDoublings - 1; ++i) {
      if (value > INT64_MAX / 2) break;
      values.push_back(value *= 2);
    }
    values.push_back(argument.value / 2);
  }
  std::erase_if(values, [&](std::int64_t value) { return value == argument.value || value < 1; });
  return values;
}

void add_argument(const Argument& argument, std::int64_t cpus, std::vector<Lever>& levers) {
  for (const std::int64_t value : values_around(argument, cpus)) {
    levers.push_back(argument_lever(argument, value));
  }
}

}  // namespace

Lever argument_lever(const Argument& argument, std::int64_t value) {
  Lever lever;
  lever.id = fmt::format("{}={}", argument.name, value);
  lever.option = argument.option;
  lever.value = std::to_string(value);
  lever.group = argument.name;
  lever.numerics = argument.name == "workers" ? Numerics::kRedrawn : Numerics::kTrajectory;
  lever.what = fmt::format("{} {} in the place of {}", argument.option, value, argument.value);
  lever.permanent = fmt::format("{} {} on the command line", argument.option, value);
  return lever;
}

Result<Argument> read_argument(const std::string& text, const std::vector<std::string>& command) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (!named ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), plain)) {
    return fail(ErrorCode::kInvalidArgument,
                "--arg takes NAME=--OPTION, as in batch=--batch-size, and got '{}'", text);
  }
  Argument argument{text.substr(0, equals), text.substr(equals + 1), 0};
  const auto place = find_value(command, argument.option);
  const auto value =
      place ? number_of(command[place->word].substr(place->from)) : std::optional<std::int64_t>();
  if (!value) {
    return fail(ErrorCode::kInvalidArgument,
                "--arg {}: the command does not say {} with a number; say it, so that there is a "
                "value to begin with",
                text, argument.option);
  }
  argument.value = *value;
  return argument;
}

std::vector<Lever> levers_for(const TunedJob& job, const std::vector<Argument>& arguments) {
  std::vector<Lever> levers;
  for (const Argument& argument : arguments) {
    if (argument.name == "workers") add_argument(argument, job.cpus, levers);
  }
  add_precisions(job.device, levers);
  levers.push_back(hook_lever("channels_last", Numerics::kRounding,
                              "images and filters with channels last",
                              "model.to(memory_format=torch.channels_last), and the same for each "
                              "batch of images"));
  job.device == "cuda" ? add_gpu_levers(levers) : add_cpu_levers(job, levers);
  levers.push_back(hook_lever("fused_optimizer", Numerics::kRounding,
                              "the optimizer's step in one kernel",
                              "fused=True in the optimizer's arguments"));
  add_compilers(levers);
  for (const Argument& argument : arguments) {
    const bool elsewhere = argument.name == "workers" || argument.name == kBatchArgument;
    if (!elsewhere) add_argument(argument, job.cpus, levers);
  }
  return levers;
}

std::vector<std::string> with_arguments(std::vector<std::string> command,
                                        const std::vector<const Lever*>& levers) {
  for (const Lever* const lever : levers) {
    if (lever->option.empty()) continue;
    const auto place = find_value(command, lever->option);
    if (place) command[place->word] = command[place->word].substr(0, place->from) + lever->value;
  }
  return command;
}

std::string hook_levers(const std::vector<const Lever*>& levers) {
  nlohmann::json wanted = nlohmann::json::object();
  for (const Lever* const lever : levers) {
    if (!lever->hook.empty()) wanted[lever->hook] = nlohmann::json::parse(lever->settings);
  }
  return wanted.dump();
}

}  // namespace unstarve::tune
