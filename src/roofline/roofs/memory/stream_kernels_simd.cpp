// STREAM's kernels, compiled once per instruction set by Highway.
#include "roofline/roofs/memory/stream_kernels.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "roofline/roofs/memory/stream_kernels_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::roofline::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using NarrowDoubles = hn::CappedTag<double, 4>;

template <Stores kStores, class Tag, class Vector>
HWY_INLINE void put(Tag tag, Vector value, double* HWY_RESTRICT target) {
  if constexpr (kStores == Stores::kNonTemporal) {
    hn::Stream(value, tag, target);
  } else {
    hn::Store(value, tag, target);
  }
}

template <StreamKernel kKernel, Stores kStores>
void run(const StreamArrays& arrays) {
  const std::conditional_t<kStores == Stores::kPlainNarrow, NarrowDoubles, Doubles> tag;
  const auto scalar = hn::Set(tag, kStreamScalar);
  double* HWY_RESTRICT a = arrays.a;
  double* HWY_RESTRICT b = arrays.b;
  double* HWY_RESTRICT c = arrays.c;
  for (std::size_t i = 0; i < arrays.count; i += hn::Lanes(tag)) {
    if constexpr (kKernel == StreamKernel::kCopy) {
      put<kStores>(tag, hn::Load(tag, a + i), c + i);
    } else if constexpr (kKernel == StreamKernel::kScale) {
      put<kStores>(tag, hn::Mul(scalar, hn::Load(tag, c + i)), b + i);
    } else if constexpr (kKernel == StreamKernel::kAdd) {
      put<kStores>(tag, hn::Add(hn::Load(tag, a + i), hn::Load(tag, b + i)), c + i);
    } else {
      put<kStores>(tag, hn::MulAdd(scalar, hn::Load(tag, c + i), hn::Load(tag, b + i)), a + i);
    }
  }
  if constexpr (kStores == Stores::kNonTemporal) hwy::FlushStream();
}

template <Stores kStores>
void run_one(StreamKernel kernel, const StreamArrays& arrays) {
  switch (kernel) {
    case StreamKernel::kCopy: return run<StreamKernel::kCopy, kStores>(arrays);
    case StreamKernel::kScale: return run<StreamKernel::kScale, kStores>(arrays);
    case StreamKernel::kAdd: return run<StreamKernel::kAdd, kStores>(arrays);
    case StreamKernel::kTriad: return run<StreamKernel::kTriad, kStores>(arrays);
  }
}

void run_kernel(StreamKernel kernel, Stores stores, const StreamArrays& arrays) {
  switch (stores) {
    case Stores::kPlain: return run_one<Stores::kPlain>(kernel, arrays);
    case Stores::kPlainNarrow: return run_one<Stores::kPlainNarrow>(kernel, arrays);
    case Stores::kNonTemporal: return run_one<Stores::kNonTemporal>(kernel, arrays);
  }
}

}  // namespace unstarve::roofline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::roofline {

HWY_EXPORT(run_kernel);

void run_stream_kernel(StreamKernel kernel, Stores stores, const StreamArrays& arrays) {
  HWY_DYNAMIC_DISPATCH(run_kernel)(kernel, stores, arrays);
}

std::string_view to_string(StreamKernel kernel) {
  switch (kernel) {
    case StreamKernel::kCopy: return "copy";
    case StreamKernel::kScale: return "scale";
    case StreamKernel::kAdd: return "add";
    case StreamKernel::kTriad: return "triad";
  }
  return "";
}

double bytes_per_element(StreamKernel kernel) {
  const bool reads_two = kernel == StreamKernel::kAdd || kernel == StreamKernel::kTriad;
  return static_cast<double>((reads_two ? 3 : 2) * sizeof(double));
}

}  // namespace unstarve::roofline
#endif
