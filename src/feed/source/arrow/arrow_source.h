#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"
#include "feed/source/arrow/image_column.h"

namespace unstarve::feed {

/// The images of an Arrow column: a row is a sample. Its bytes are read where they lie; where it
/// has none, the file at its path is read. Labels are 0: other columns are not its affair.
///
/// Rows without an image, with a path that is a URL, and images that are to be turned by their
/// EXIF, as `datasets` does it, are errors of the row: kNotFound, kNotSupported. With `only_rgb`,
/// so are images that PIL would open in another mode than RGB.
class ArrowSource final : public SampleSource {
 public:
  static constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;

  /// kInvalidArgument when the column has no rows.
  static Result<std::shared_ptr<ArrowSource>> open(std::shared_ptr<const ImageColumn> column,
                                                   std::shared_ptr<io::Files> files,
                                                   bool only_rgb = false);

  std::uint64_t size() const override { return column_->size(); }
  std::int64_t label(std::uint64_t /*index*/) const override { return 0; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::string locate(std::uint64_t index) const override;
  std::uint64_t fingerprint() const override { return column_->fingerprint(); }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

 private:
  ArrowSource(std::shared_ptr<const ImageColumn> column, std::shared_ptr<io::Files> files,
              bool only_rgb);

  std::shared_ptr<const ImageColumn> column_;  // shared with sources for other scripts
  std::shared_ptr<io::Files> files_;           // shared with whoever gave it, for the fault tests
  bool only_rgb_;
  std::vector<std::string> classes_;  // always empty
};

}  // namespace unstarve::feed
