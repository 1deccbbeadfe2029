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

  std::uint64_t size() const { return source_->size(); }
  /// The file of a row, as a loading thread would have it.
  nanobind::bytes encoded(std::uint64_t row) const;
  const std::shared_ptr<feed::ArrowSource>& source() const { return source_; }

 private:
  std::shared_ptr<feed::ArrowSource> source_;  // shared with the loaders
};

}  // namespace unstarve::binding
