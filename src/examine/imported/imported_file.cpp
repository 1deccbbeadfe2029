#include "examine/imported/imported_file.h"

#include <filesystem>
#include <utility>

#include "examine/imported/logged_gpu.h"
#include "observe/import/gpu_log/gpu_log.h"
#include "observe/import/kineto.h"
#include "observe/import/nsys/nsys_export.h"

namespace unstarve::examine {

Result<bool> is_export(const std::string& path) {
  const std::filesystem::path file(path);
  if (const auto end = file.extension(); end == ".nsys-rep" || end == ".qdrep") {
    return fail(ErrorCode::kNotSupported,
                "{} is a report that only nsys reads: `nsys export --type sqlite {}` writes a file "
                "that can be diagnosed",
                path, path);
  }
  auto exported = observe::is_nsys_export(path);
  // What a damaged store lacks may still be in the run's rings.
  if (!exported && file.filename() == "run.sqlite") return false;
  return exported;
}

Result<ImportedFile> import_file(const std::string& path, const ReadProgress& progress) {
  const auto exported = is_export(path);
  if (!exported) return forward_error(exported);
  observe::ImportOptions options;
  options.progress = progress;
  if (*exported) {
    auto imported = observe::import_nsys(path, options);
    if (!imported) return forward_error(imported);
    return ImportedFile{std::move(imported->timeline), {}, std::move(imported->remarks)};
  }
  if (observe::is_gpu_log(path)) {
    auto log = observe::import_gpu_log(path);
    if (!log) return forward_error(log);
    LoggedGpus gpus = describe_log(*log);
    ImportedFile file{{}, std::move(gpus.worst), std::move(gpus.remarks)};
    file.timeline.input = trace::InputKind::kCsv;
    file.timeline.file = path;
    return file;
  }
  auto timeline = observe::import_kineto(path, options);
  if (!timeline) return forward_error(timeline);
  return ImportedFile{*std::move(timeline), {}, {}};
}

}  // namespace unstarve::examine
