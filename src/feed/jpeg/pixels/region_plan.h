#pragma once

#include <array>
#include <cstddef>

#include "feed/data/geometry.h"
#include "feed/jpeg/payload/payload.h"

namespace unstarve::feed {

/// How a component's samples become as many as the image has pixels: what libjpeg chooses.
enum class Upsampling { kNone, kFancyH2V1, kFancyH2V2, kFancyH1V2, kReplicate };

/// What a region needs of one component. Columns and rows count samples of the component.
struct ComponentPlan {
  Upsampling upsampling = Upsampling::kNone;
  int horizontal = 1;  // pixels per sample
  int vertical = 1;
  int columns = 0;  // of the whole image
  int rows = 0;
  int first_column = 0;  // needed, with the neighbours that upsampling looks at
  int end_column = 0;
  int first_block = 0;  // the blocks that these lie in
  int block_count = 0;
  int mcu_rows = 8;  // rows of samples per MCU row
  // The samples behind the region's pixels, without neighbours.
  int first_used = 0;
  int used_count = 0;
};

/// Which parts of an image a region touches. Fancy upsampling looks at neighbouring samples, so
/// that pixels at a region's edge would differ from those of the whole image without them.
struct RegionPlan {
  Box region;
  std::array<ComponentPlan, kernels::kMaxComponents> components;
  std::size_t component_count = 0;
  int first_row = 0;  // MCU rows
  int end_row = 0;
  int first_segment = 0;
  int end_segment = 0;
  bool looks_below = false;  // the last pixel row of an MCU row needs the next MCU row
};

/// kNotSupported where the sampling factors do not divide evenly, which libjpeg does not decode
/// either. `region` lies inside the image.
Status plan_region(const PayloadHead& head, const Box& region, RegionPlan& plan);

}  // namespace unstarve::feed
