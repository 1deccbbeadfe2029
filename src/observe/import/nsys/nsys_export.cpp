#include "observe/import/nsys/nsys_export.h"

#include <array>
#include <string_view>
#include <utility>

#include "observe/import/file_start.h"
#include "observe/import/nsys/export_reader.h"
#include "trace/store/sqlite.h"

namespace unstarve::observe {

namespace {

/// Any of these tables makes an SQLite file an export.
constexpr std::array<std::string_view, 6> kTellingTables = {
    "META_DATA_EXPORT",           "TARGET_INFO_SYSTEM_ENV",      "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};

Result<bool> has_telling_table(const trace::Database& database) {
  for (const std::string_view table : kTellingTables) {
    const auto found = has_table(database, table);
    if (!found || *found) return found;
  }
  return false;
}

}  // namespace

Result<bool> is_nsys_export(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  if (read_file_start(path, kMagic.size()) != kMagic) return false;
  const auto database = trace::Database::open_untrusted(path);
  if (!database) return forward_error(database);
  return has_telling_table(*database);
}

Result<NsysImport> import_nsys(const std::string& path, const ImportOptions& options) {
  const auto database = trace::Database::open_untrusted(path);
  if (!database) return forward_error(database);
  const auto known = has_telling_table(*database);
  if (!known) return forward_error(known);
  if (!*known) {
    return fail(ErrorCode::kCorruptData,
                "{} is no export of Nsight Systems: none of its tables "
                "is there",
                path);
  }
  ExportReader reader(*database, path, options);
  if (const Status read = reader.read(); !read) {
    const std::string& message = read.error().message;
    const bool named = message.find(path) != message.npos;  // SQLite names the file itself
    return fail(read.error().code, "{}{}{}", named ? "" : path, named ? "" : ": ", message);
  }
  return reader.finish();
}

}  // namespace unstarve::observe
