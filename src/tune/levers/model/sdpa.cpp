#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "tune/levers/family.h"

namespace unstarve::tune {

namespace {

/// One of torch's ways of attention is left by turning off `others`.
Lever way(const std::string& name, const std::string& whose,
          const std::vector<std::string>& others) {
  std::vector<std::string> lines;
  for (const std::string& other : others) {
    lines.push_back(fmt::format("torch.backends.cuda.enable_{}_sdp(False)", other));
  }
  Lever lever =
      hook_lever(name, Numerics::kRounding, Eases::kCompute, "torch's attention by " + whose,
                 fmt::format("{} at the script's start", fmt::join(lines, ", ")));
  lever.group = kAttentions;
  lever.written = lines_edit(std::move(lines), {"_sdp", "sdpa_kernel", "sdp_kernel"});
  return lever;
}

}  // namespace

LeverFamily sdpa_lever() {
  return {71, [](const TunedJob& job) {
            if (!job.on_gpu()) return std::vector<Lever>();
            std::vector<Lever> ways = {
                way("sdpa_flash", "FlashAttention", {"mem_efficient", "cudnn"}),
                way("sdpa_efficient", "xFormers' kernel", {"flash", "cudnn"}),
                way("sdpa_math", "products of matrices", {"flash", "mem_efficient", "cudnn"})};
            // Not every torch has cuDNN's attention to turn off.
            for (Lever& lever : ways) {
              if (!job.has_cudnn_attention) lever.written->lines.pop_back();
            }
            Lever cudnn = way("sdpa_cudnn", "cuDNN", {"flash", "mem_efficient", "math"});
            cudnn.permanent += ", and on again before an evaluation";
            cudnn.written.reset();
            ways.push_back(std::move(cudnn));
            return ways;
          }};
}

}  // namespace unstarve::tune
