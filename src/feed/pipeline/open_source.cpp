#include "feed/pipeline/open_source.h"

#include "feed/source/folder_source.h"

namespace unstarve::feed {

Result<std::shared_ptr<SampleSource>> open_source(const LoaderOptions& options,
                                                  const std::shared_ptr<FileReader>& files) {
  if (options.root.empty()) {
    return fail(ErrorCode::kInvalidArgument, "root is empty: name the folder with the images");
  }
  Result<std::shared_ptr<FolderSource>> folder =
      FolderSource::open({options.root, options.skip_other_formats, options.max_file_bytes}, files);
  if (!folder) return forward_error(folder);
  return std::shared_ptr<SampleSource>(std::move(*folder));
}

}  // namespace unstarve::feed
