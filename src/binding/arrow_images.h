#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "feed/source/arrow/arrow_source.h"

namespace unstarve::binding {

/// A column of images that another library hands over through Arrow's C stream interface. Loaders
/// share it, and forked processes its memory.
class ArrowImages {
 public:
  /// `stream`: what `__arrow_c_stream__()` of a table with this one column gives. It is used up.
  explicit ArrowImages(const nanobind::object& stream);

  std::uint64_t size() const { return column_->size(); }
  /// The file of a row, as a loading thread would have it. It is of a format that is decoded here.
  nanobind::bytes encoded(std::uint64_t row, bool only_rgb) const;
  /// Without the GIL, or with it.
  Result<std::shared_ptr<feed::ArrowSource>> source(bool only_rgb) const;

 private:
  std::shared_ptr<const feed::ImageColumn> column_;  // shared with the loaders
};

}  // namespace unstarve::binding
