#include "tune/levers/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace unstarve::tune {

namespace {

constexpr std::int64_t kMostWorkers = 64;
constexpr std::size_t kMostDoublings = 3;
constexpr const char* kAllocators = "allocator";

Lever hook_lever(const std::string& name, Numerics numerics, const std::string& description,
                 const std::string& permanent) {
  Lever lever;
  lever.id = lever.hook = name;
  lever.settings = "{}";
  lever.numerics = numerics;
  lever.what = description;
  lever.permanent = permanent;
  return lever;
}

const Argument* find_argument(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

/// Both arguments at once, so that a step holds as many samples.
Lever regrouped(const Argument& batch, std::int64_t size, const Argument& accumulation,
                std::int64_t passes) {
  Lever lever = both_levers(argument_lever(batch, size), argument_lever(accumulation, passes));
  lever.group = kAccumulationArgument;
  lever.numerics = Numerics::kRegrouped;
  lever.passes_ratio = static_cast<double>(passes) / static_cast<double>(accumulation.value);
  return lever;
}

/// Larger portions down to a single one, and portions of half the size.
void add_accumulations(const Argument& batch, const Argument& accumulation,
                       std::vector<Lever>& levers) {
  const std::int64_t passes = accumulation.value;
  for (const std::int64_t times : std::set<std::int64_t>{2, 4, 8, passes}) {
    if (times < 2 || passes % times != 0 || batch.value > INT64_MAX / times) continue;
    levers.push_back(regrouped(batch, batch.value * times, accumulation, passes / times));
  }
  if (batch.value >= 2 && batch.value % 2 == 0 && passes <= INT64_MAX / 2) {
    levers.push_back(regrouped(batch, batch.value / 2, accumulation, passes * 2));
  }
}

/// In the words of `lever` {} stands for their number; the job has `known`.
void add_threads(const Lever& lever, std::int64_t known, std::int64_t cpus,
                 std::vector<Lever>& levers) {
  const std::set<std::int64_t> counts = {1, cpus / 2, cpus};
  for (const std::int64_t count : counts) {
    if (count < 1 || count == known) continue;
    Lever variant = lever;
    variant.id = fmt::format("{}={}", lever.hook, count);
    variant.settings = fmt::format(R"({{"count": {}}})", count);
    variant.what = fmt::format(fmt::runtime(lever.what), count);
    variant.permanent = fmt::format(fmt::runtime(lever.permanent), count);
    variant.group = lever.hook;
    if (count > known && known > 0) {
      variant.most_saved = 1 - static_cast<double>(known) / static_cast<double>(count);
    }
    variant.eases = Eases::kThreads;
    levers.push_back(std::move(variant));
  }
}

/// `package`: Debian's and Ubuntu's, of an allocator that is not there.
Lever preloaded(const std::string& name, const std::string& package, const TunedJob& job) {
  Lever lever = hook_lever(name, Numerics::kExact,
                           fmt::format("memory of tensors by {} in glibc's place", name), "");
  lever.settings = R"({"set": true})";
  lever.group = kAllocators;
  lever.eases = Eases::kHostMemory;
  const auto found = job.allocators.find(name);
  if (found == job.allocators.end()) {
    lever.missing = fmt::format("lib{} is not installed ({} of Debian and Ubuntu)", name, package);
    return lever;
  }
  const char* const others = std::getenv("LD_PRELOAD");
  const bool more = others != nullptr && *others != 0;
  lever.environment = {{"LD_PRELOAD", more ? found->second + ":" + others : found->second}};
  lever.permanent = fmt::format("LD_PRELOAD={} in the environment of the command", found->second);
  return lever;
}

void add_cpu_levers(const TunedJob& job, std::vector<Lever>& levers) {
  add_threads(hook_lever("threads", Numerics::kExact, "{} threads for operations on the CPU",
                         "torch.set_num_threads({}) at the script's start"),
              job.threads, job.cpus, levers);
  add_threads(hook_lever("interop_threads", Numerics::kExact, "{} threads for tasks that fork",
                         "torch.set_num_interop_threads({}) right after the import of torch"),
              job.interop_threads, job.cpus, levers);
  Lever memory = hook_lever("kept_memory", Numerics::kExact,
                            "glibc keeps the memory that tensors free for the next step",
                            "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1099511627776 in the "
                            "environment of the command");
  memory.environment = {{"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "1099511627776"}};
  memory.settings = R"({"set": true})";
  memory.group = kAllocators;
  memory.eases = Eases::kHostMemory;
  levers.push_back(std::move(memory));
  for (const auto& [name, package] :
       {std::pair{"tcmalloc", "libtcmalloc-minimal4"}, std::pair{"jemalloc", "libjemalloc2"}}) {
    levers.push_back(preloaded(name, package, job));
  }
}

void add_gpu_levers(std::vector<Lever>& levers) {
  Lever segments = hook_lever("expandable_segments", Numerics::kExact,
                              "the allocator of GPU memory grows its segments",
                              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment "
                              "of the command");
  segments.environment = {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}};
  segments.settings = R"({"set": true})";
  segments.eases = Eases::kMemory;
  segments.makes_room = true;
  levers.push_back(std::move(segments));
  Lever pinned = hook_lever("pinned_copies", Numerics::kExact,
                            "batches in pinned memory, copied to the GPU without waiting",
                            "pin_memory=True in the DataLoader's arguments, and "
                            "non_blocking=True in the copies of its batches to the GPU");
  pinned.eases = Eases::kCopies;
  levers.push_back(std::move(pinned));
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
  bf16.eases = fp16.eases = Eases::kPrecision;
  products.eases = Eases::kProducts;
  for (Lever* const lever : {&bf16, &fp16, &products}) {
    lever->group = "precision";
    levers.push_back(std::move(*lever));
  }
}

/// Of these at most one is kept.
void add_group(const char* name, std::vector<Lever> of_group, std::vector<Lever>& levers) {
  for (Lever& lever : of_group) {
    lever.group = name;
    levers.push_back(std::move(lever));
  }
}

void add_attention(const std::string& device, std::vector<Lever>& levers) {
  const std::string at_start = " at the script's start";
  const auto off = [&](const char* first, const char* other, const char* third = nullptr) {
    std::string text = fmt::format(
        "torch.backends.cuda.enable_{}_sdp(False), torch.backends.cuda.enable_{}_sdp(False)", first,
        other);
    if (third != nullptr) text += fmt::format(", torch.backends.cuda.enable_{}_sdp(False)", third);
    return text + at_start;
  };
  std::vector<Lever> found = {hook_lever(
      "hf_sdpa", Numerics::kRounding, "transformers' attention by torch's fused one",
      "attn_implementation=\"sdpa\" in from_pretrained(), or model.set_attn_implementation("
      "\"sdpa\")")};
  if (device == "cuda") {
    const auto add = [&](const char* name, const char* whose, const std::string& permanent) {
      found.push_back(hook_lever(name, Numerics::kRounding,
                                 fmt::format("torch's attention by {}", whose), permanent));
    };
    add("sdpa_flash", "FlashAttention", off("mem_efficient", "cudnn"));
    add("sdpa_efficient", "xFormers' kernel", off("flash", "cudnn"));
    add("sdpa_math", "products of matrices", off("flash", "mem_efficient", "cudnn"));
    add("sdpa_cudnn", "cuDNN",
        off("flash", "mem_efficient", "math") + ", and on again before an evaluation");
  }
  add_group("attention", std::move(found), levers);
}

void add_checkpointing(std::vector<Lever>& levers) {
  Lever lever = hook_lever("gradient_checkpointing", Numerics::kExact,
                           "activations are computed again in the backward pass, and not kept",
                           "model.gradient_checkpointing_enable() (transformers) or "
                           "model.set_grad_checkpointing() (timm) before the training");
  lever.saves_memory = true;
  levers.push_back(std::move(lever));
}

void add_compilers(const std::string& device, std::vector<Lever>& levers) {
  std::vector<Lever> found = {
      hook_lever("compile", Numerics::kRounding, "torch.compile of the model",
                 "model = torch.compile(model) before the training"),
      hook_lever("compile_regions", Numerics::kRounding,
                 "torch.compile of the blocks that the model repeats",
                 "block.compile() of each of the model's repeated blocks before the training")};
  if (device == "cuda") {
    found.push_back(hook_lever("compile_reduce_overhead", Numerics::kRounding,
                               "torch.compile of the model, with CUDA graphs",
                               "model = torch.compile(model, mode=\"reduce-overhead\")"));
    found.push_back(hook_lever("compile_max_autotune", Numerics::kRounding,
                               "torch.compile of the model, with kernels tried out",
                               "model = torch.compile(model, mode=\"max-autotune\")"));
  }
  for (Lever& lever : found) {
    lever.eases = Eases::kFusion;
    const bool variant = lever.id == "compile_regions" || lever.id == "compile_max_autotune";
    if (variant) lever.variant_of = "compile";
  }
  add_group(kCompilers, std::move(found), levers);
}

/// `allowed`: those that fetch code, which then runs in the job.
void add_kernels_of_others(const std::string& device, const std::vector<std::string>& allowed,
                           std::vector<Lever>& levers) {
  if (device != "cuda") return;
  std::vector<Lever> found = {
      hook_lever("liger", Numerics::kRounding, "transformers' layers by Liger's kernels",
                 "liger_kernel.transformers' apply function of the model before it is made"),
      hook_lever("hub_kernels", Numerics::kRounding,
                 "transformers' layers by kernels of Hugging Face's hub",
                 "use_kernels=True in from_pretrained()")};
  if (std::find(allowed.begin(), allowed.end(), "hub_kernels") == allowed.end()) {
    found[1].missing = "it downloads code that runs in the job: --allow hub_kernels";
  }
  add_group("kernels", std::move(found), levers);
}

void add_fewer_kernels(std::vector<Lever>& levers) {
  Lever dropped = hook_lever("set_to_none", Numerics::kExact,
                             "gradients are dropped, and not filled with zeros",
                             "zero_grad() without set_to_none=False");
  Lever fused =
      hook_lever("fused_optimizer", Numerics::kRounding, "the optimizer's step in one kernel",
                 "fused=True in the optimizer's arguments");
  dropped.eases = Eases::kZeroing;
  fused.eases = Eases::kOptimizer;
  levers.push_back(std::move(dropped));
  levers.push_back(std::move(fused));
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
  add_fewer_kernels(levers);
  add_attention(job.device, levers);
  add_kernels_of_others(job.device, job.allowed, levers);
  add_compilers(job.device, levers);
  add_checkpointing(levers);
  const Argument* const batch = find_argument(arguments, kBatchArgument);
  const Argument* const accumulation = find_argument(arguments, kAccumulationArgument);
  const bool both = batch != nullptr && accumulation != nullptr && accumulation->value > 0;
  if (both) add_accumulations(*batch, *accumulation, levers);
  for (const Argument& argument : arguments) {
    const bool elsewhere =
        argument.name == "workers" || &argument == batch || (both && &argument == accumulation);
    if (!elsewhere) add_argument(argument, job.cpus, levers);
  }
  return levers;
}

std::string hook_levers(const std::vector<const Lever*>& levers) {
  nlohmann::json wanted = nlohmann::json::object();
  for (const Lever* const lever : levers) {
    if (!lever->hook.empty()) wanted[lever->hook] = nlohmann::json::parse(lever->settings);
  }
  return wanted.dump();
}

}  // namespace unstarve::tune
