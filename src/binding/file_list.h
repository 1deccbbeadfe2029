#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>

#include "binding/errors.h"
#include "binding/released.h"
#include "feed/pipeline/loader_parts.h"
#include "feed/source/list_source.h"

namespace unstarve::binding {

using LabelList = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                    nanobind::device::cpu>;

/// Files that the caller has listed, with labels. Loaders share it, and forked processes its
/// memory.
class FileList {
 public:
  /// `paths` are bytes, a zero byte after each.
  FileList(const nanobind::bytes& paths, const LabelList& labels) {
    feed::ListSource::List list;
    list.paths.assign(paths.c_str(), paths.size());
    list.labels.assign(labels.data(), labels.data() + labels.size());
    Result<std::shared_ptr<feed::ListSource>> source = [&] {
      const Released released;
      return feed::ListSource::open(std::move(list), feed::LoaderParts::real().files);
    }();
    source_ = value_or_raise(std::move(source));
  }
  const std::shared_ptr<feed::ListSource>& source() const { return source_; }

 private:
  std::shared_ptr<feed::ListSource> source_;  // shared with the loaders
};

}  // namespace unstarve::binding
