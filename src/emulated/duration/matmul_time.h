#pragma once

#include "emulated/duration/device_rates.h"

namespace unstarve::emulated {

/// A matrix product as a library computes it: in tiles of the result, one a block.
struct TiledProduct {
  double m = 0;
  double n = 0;
  double k = 0;  // what is added up for each result
  double batch = 1;
  double flops_per_s = 0;
  double bytes = 0;         // read and written at the least
  double output_bytes = 4;  // of one result
  bool tensor_cores = true;
};

/// ns on the device, the launch's fixed part included. The best tile and split of the sum is
/// chosen, as the libraries' heuristics mean to.
double product_ns(const DeviceRates& rates, const TiledProduct& product);

double matmul_ns(const DeviceRates& rates, const MatmulWork& work);

}  // namespace unstarve::emulated
