#include <map>

#include "diagnose/signals/derive.h"
#include "job/kernels/kernel_traits.h"

namespace unstarve::diagnose {

namespace {

using job::KernelTraits;

/// The kernels' time by name, of what was recorded on the worst device.
std::map<trace::NameId, double> ns_by_name(const SignalSources& sources) {
  std::map<trace::NameId, double> ns;
  for (const trace::DeviceOp& op : sources.timeline().device_ops) {
    if (op.device != sources.worst->device || op.kind != trace::DeviceOpKind::kCompute) continue;
    if (!lies_in_recording({op.start_ns, op.end_ns}, *sources.worst)) continue;
    ns[op.name] += static_cast<double>(op.end_ns - op.start_ns);
  }
  return ns;
}

}  // namespace

void derive_kernel_signals(const SignalSources& sources, Signals& out) {
  if (sources.worst == nullptr) return;
  double all = 0;
  double products = 0;
  double on_float_units = 0;
  double misaligned = 0;
  double memory = 0;
  for (const auto& [name, ns] : ns_by_name(sources)) {
    const KernelTraits traits = job::traits_of(sources.timeline().name_of(name));
    all += ns;
    if (traits.work == KernelTraits::Work::kMemory) memory += ns;
    if (traits.work != KernelTraits::Work::kProduct) continue;
    if (traits.units == KernelTraits::Units::kUnknown) continue;
    products += ns;
    if (traits.units == KernelTraits::Units::kFloat) on_float_units += ns;
    if (traits.misaligned) misaligned += ns;
  }
  if (all <= 0) return;
  out.memory_kernel_ratio = memory / all;
  if (products <= 0) return;
  out.product_ratio = products / all;
  out.float_product_ratio = on_float_units / all;
  out.misaligned_product_ratio = misaligned / all;
}

}  // namespace unstarve::diagnose
