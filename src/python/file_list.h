#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "feed/source/list_source.h"

namespace unstarve::python {

using LabelList = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                    nanobind::device::cpu>;

/// Files that the caller has listed: `paths` are bytes, a zero byte after each.
inline feed::ListSource::List list_of(const nanobind::bytes& paths, const LabelList& labels) {
  feed::ListSource::List list;
  list.paths.assign(paths.c_str(), paths.size());
  list.labels.assign(labels.data(), labels.data() + labels.size());
  return list;
}

}  // namespace unstarve::python
