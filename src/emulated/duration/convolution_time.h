#pragma once

#include "emulated/duration/device_rates.h"

namespace unstarve::emulated {

/// ns on the device, the launch's fixed part included: as a matrix product of the shape that the
/// pass has, without the patches being written to memory (an implicit product).
double convolution_ns(const DeviceRates& rates, const ConvolutionWork& work);

}  // namespace unstarve::emulated
