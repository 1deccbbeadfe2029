#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/import/nsys/export_table.h"
#include "observe/import/nsys/nsys_export.h"
#include "observe/import/nsys/nvtx_ranges.h"

namespace unstarve::observe {

/// Reads the tables of one export, each into its part of a Timeline.
class ExportReader {
 public:
  ExportReader(const trace::Database& database, const std::string& file,
               const ImportOptions& options);

  /// All tables. Once, before finish().
  Status read();
  /// Errors: those of trace::list_devices().
  Result<NsysImport> finish();

 private:
  using Row = const ExportTable&;

  /// Hands each row of a table to `take`, and says whether the table is there.
  template <class Take>
  Result<bool> each_row(std::string_view table, std::initializer_list<std::string_view> columns,
                        Take take);
  Status read_strings();
  Status read_devices();
  Status read_calls();
  Status read_kernels();
  Status read_copies();
  Status read_memsets();
  Status read_graphs();
  Status read_synchronisations();
  Status read_ranges();

  /// The columns start and end, which are a row's first two; none, and counted, where they make no
  /// sense.
  std::optional<trace::Interval> when_of(Row row);
  /// An operation from the first six columns: start, end, deviceId, streamId, correlationId,
  /// globalPid. nullptr: none can be made of the row.
  trace::DeviceOp* add_operation(Row row);
  std::int32_t device_of(const Reading<std::int64_t>& cuda_device, std::int64_t process) const;
  std::string_view string_of(const Reading<std::int64_t>& id) const;
  void say_what_is_missing();

  const trace::Database& database_;
  RowBudget budget_;
  std::uint64_t most_string_bytes_;
  NsysImport out_;
  trace::NameTable names_;
  NvtxRanges ranges_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::vector<trace::DeviceInfo> described_;
  // The machine's number of a device, by process and by the number that CUDA gives it there.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> machine_device_;
  std::unordered_map<std::int64_t, std::size_t> call_of_;  // by correlation, into host_calls
  std::set<std::string, std::less<>> missing_;  // tables and columns, of those looked for
};

}  // namespace unstarve::observe
