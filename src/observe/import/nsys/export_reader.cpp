#include "observe/import/nsys/export_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "trace/timeline/used_devices.h"

namespace unstarve::observe {

namespace {

using trace::DeviceOp;
using trace::DeviceOpKind;

// Columns by place, the same for everything that ran on a device.
enum OperationColumn : std::size_t {
  kStart,
  kEnd,
  kDevice,
  kStream,
  kCorrelation,
  kPid,
  kFirstOwn
};

// More than the memory of any GPU, and little enough that sums of them fit.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 37;
// 73 years: an export counts from where its recording began.
constexpr std::int64_t kLatest = std::int64_t{1} << 61;

/// globalPid and globalTid hold the machine, the process and the thread in 24 bits each.
constexpr std::int64_t kIdMask = (1 << 24) - 1;
std::int64_t process_in(const Reading<std::int64_t>& global) {
  return (global.value_or(0) >> 24) & kIdMask;
}
std::int64_t thread_in(const Reading<std::int64_t>& global) { return global.value_or(0) & kIdMask; }

/// Exports number what CUPTI numbers too, but not alike: pageable memory is 0, not 1.
trace::MemoryKind memory_of(const Reading<std::int64_t>& kind) {
  if (!kind) return trace::MemoryKind::kUnknown;
  switch (*kind) {
    case 0: return trace::MemoryKind::kPageable;
    case 1: return trace::MemoryKind::kPinned;
    case 2:
    case 3:  // an array
    case 5:  // static
      return trace::MemoryKind::kDevice;
    case 4:
    case 6: return trace::MemoryKind::kManaged;
    default: return trace::MemoryKind::kUnknown;
  }
}

trace::CopyDirection direction_of(const Reading<std::int64_t>& kind) {
  using trace::CopyDirection;
  switch (kind.value_or(0)) {
    case 1:
    case 3:   // to an array
    case 11:  // of managed memory
      return CopyDirection::kHostToDevice;
    case 2:
    case 4:
    case 12: return CopyDirection::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13: return CopyDirection::kDeviceToDevice;
    case 9: return CopyDirection::kHostToHost;
    case 10: return CopyDirection::kPeerToPeer;
    default: return CopyDirection::kUnknown;
  }
}

std::int64_t bounded_bytes(const Reading<std::int64_t>& bytes) {
  return std::clamp<std::int64_t>(bytes.value_or(0), 0, kMostBytes);
}

/// "cudaLaunchKernel_v7000" without the version.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == name.npos || at + 2 == name.size()) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool all = digits.find_first_not_of("0123456789") == digits.npos;
  return all ? name.substr(0, at) : name;
}

std::int32_t small_number(const Reading<std::int64_t>& number) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return number && *number >= 0 && *number <= kMost ? static_cast<std::int32_t>(*number) : -1;
}

std::int64_t correlation_of(const Reading<std::int64_t>& number, std::int64_t process) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!number || *number <= 0 || *number > kMost) return trace::kNoCorrelation;
  return trace::correlation_of(process, static_cast<std::uint32_t>(*number));
}

}  // namespace

ExportReader::ExportReader(const trace::Database& database, const std::string& file,
                           const ImportOptions& options)
    : database_(database),
      budget_{0, options.max_events},
      most_string_bytes_(options.max_name_bytes),
      names_(out_.timeline) {
  out_.timeline.input = trace::InputKind::kNsys;
  out_.timeline.file = file;
}

template <class Take>
Result<bool> ExportReader::each_row(std::string_view table,
                                    std::initializer_list<std::string_view> columns, Take take) {
  auto rows = ExportTable::open(database_, table, columns, budget_);
  if (!rows) return forward_error(rows);
  if (!rows->is_there()) {
    missing_.emplace(table);
    return false;
  }
  for (;;) {
    const auto more = rows->next();
    if (!more) return forward_error(more);
    if (!*more) return true;
    take(*rows);
  }
}

Status ExportReader::read() {
  // Strings and devices first, since the others refer to them; calls before what they launched.
  constexpr Status (ExportReader::*kParts[])() = {
      &ExportReader::read_strings, &ExportReader::read_devices,
      &ExportReader::read_calls,   &ExportReader::read_kernels,
      &ExportReader::read_copies,  &ExportReader::read_memsets,
      &ExportReader::read_graphs,  &ExportReader::read_synchronisations,
      &ExportReader::read_ranges};
  for (const auto part : kParts) {
    if (const Status read = (this->*part)(); !read) return read;
  }
  return {};
}

Status ExportReader::read_strings() {
  std::uint64_t bytes = 0;
  const auto read = each_row("StringIds", {"id", "value"}, [&](Row row) {
    const std::string_view text = row.text(1);
    bytes += text.size();
    if (row.integer(0) && bytes <= most_string_bytes_) {
      strings_.try_emplace(*row.integer(0), text);
    }
  });
  if (!read) return forward_error(read);
  if (bytes > most_string_bytes_) {
    return fail(ErrorCode::kCorruptData, "its names are longer than {} bytes together",
                most_string_bytes_);
  }
  return {};
}

Status ExportReader::read_devices() {
  const auto gpus = each_row(
      "TARGET_INFO_GPU", {"id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"},
      [this](Row row) {
        trace::DeviceInfo& device = described_.emplace_back();
        device.index = small_number(row.integer(0));
        device.name = row.text(1);
        device.total_memory_bytes = row.integer(2);
        if (row.integer(3)) device.multiprocessors = small_number(row.integer(3));
        if (row.integer(4) && row.integer(5)) {
          device.compute_capability =
              static_cast<double>(*row.integer(4)) + static_cast<double>(*row.integer(5)) / 10;
        }
      });
  if (!gpus) return forward_error(gpus);
  const auto numbers =
      each_row("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [this](Row row) {
        if (!row.integer(0) || !row.integer(1)) return;
        machine_device_[{row.integer(2).value_or(0), *row.integer(1)}] =
            small_number(row.integer(0));
      });
  return numbers ? Status() : forward_error(numbers);
}

std::optional<trace::Interval> ExportReader::when_of(Row row) {
  const auto start = row.integer(kStart);
  const auto end = row.integer(kEnd);
  if (!start || !end || *start < 0 || *end < *start || *end > kLatest) {
    ++out_.timeline.events_lost;
    return std::nullopt;
  }
  return trace::Interval{*start, *end};
}

Status ExportReader::read_calls() {
  const auto read =
      each_row("CUPTI_ACTIVITY_KIND_RUNTIME",
               {"start", "end", "globalTid", "correlationId", "nameId"}, [this](Row row) {
                 const auto when = when_of(row);
                 if (!when) return;
                 trace::HostCall& call = out_.timeline.host_calls.emplace_back();
                 call.start_ns = when->start_ns;
                 call.end_ns = when->end_ns;
                 call.process = process_in(row.integer(2));
                 call.thread = thread_in(row.integer(2));
                 call.correlation = correlation_of(row.integer(3), call.process);
                 const std::string_view name = without_version(string_of(row.integer(4)));
                 call.name = names_.intern(name);
                 call.kind = trace::classify_host_call(name);
                 if (call.correlation != trace::kNoCorrelation) {
                   call_of_[call.correlation] = out_.timeline.host_calls.size() - 1;
                 }
               });
  return read ? Status() : forward_error(read);
}

DeviceOp* ExportReader::add_operation(Row row) {
  const auto when = when_of(row);
  if (!when) return nullptr;
  DeviceOp& op = out_.timeline.device_ops.emplace_back();
  const std::int64_t process = process_in(row.integer(kPid));
  op.start_ns = when->start_ns;
  op.end_ns = when->end_ns;
  op.device = device_of(row.integer(kDevice), process);
  op.stream = small_number(row.integer(kStream));
  op.correlation = correlation_of(row.integer(kCorrelation), process);
  return &op;
}

Status ExportReader::read_kernels() {
  const auto read = each_row("CUPTI_ACTIVITY_KIND_KERNEL",
                             {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                              "demangledName", "shortName"},
                             [this](Row row) {
                               DeviceOp* const op = add_operation(row);
                               if (op == nullptr) return;
                               std::string_view name = string_of(row.integer(kFirstOwn));
                               if (name.empty()) name = string_of(row.integer(kFirstOwn + 1));
                               op->name = names_.intern(name);
                               if (trace::is_communication_kernel(name))
                                 op->kind = DeviceOpKind::kCommunication;
                             });
  return read ? Status() : forward_error(read);
}

Status ExportReader::read_copies() {
  const auto read = each_row("CUPTI_ACTIVITY_KIND_MEMCPY",
                             {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                              "bytes", "copyKind", "srcKind", "dstKind"},
                             [this](Row row) {
                               DeviceOp* const op = add_operation(row);
                               if (op == nullptr) return;
                               op->kind = DeviceOpKind::kCopy;
                               op->bytes = bounded_bytes(row.integer(kFirstOwn));
                               op->direction = direction_of(row.integer(kFirstOwn + 1));
                               op->source = memory_of(row.integer(kFirstOwn + 2));
                               op->target = memory_of(row.integer(kFirstOwn + 3));
                               if (!row.has(kFirstOwn + 2)) {
                                 missing_.emplace("CUPTI_ACTIVITY_KIND_MEMCPY.srcKind");
                               }
                             });
  return read ? Status() : forward_error(read);
}

Status ExportReader::read_memsets() {
  const auto read =
      each_row("CUPTI_ACTIVITY_KIND_MEMSET",
               {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes"},
               [this](Row row) {
                 DeviceOp* const op = add_operation(row);
                 if (op == nullptr) return;
                 op->kind = DeviceOpKind::kMemset;
                 op->bytes = bounded_bytes(row.integer(kFirstOwn));
               });
  return read ? Status() : forward_error(read);
}

// Where the nodes of graphs were not recorded one by one, each launch of a graph is one row.
Status ExportReader::read_graphs() {
  const auto read = each_row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                             {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"},
                             [this](Row row) {
                               DeviceOp* const op = add_operation(row);
                               if (op != nullptr) op->name = names_.intern("CUDA graph");
                             });
  return read ? Status() : forward_error(read);
}

// What the host waited for is in the calls, where there are any; of a copy that synchronised only
// this table knows.
Status ExportReader::read_synchronisations() {
  constexpr std::int64_t kStreamWaitsForEvent = 2;  // the host does not
  const auto read =
      each_row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               {"start", "end", "globalPid", "correlationId", "syncType"}, [this](Row row) {
                 const auto when = when_of(row);
                 if (!when || row.integer(4).value_or(0) == kStreamWaitsForEvent) return;
                 const std::int64_t process = process_in(row.integer(2));
                 const std::int64_t correlation = correlation_of(row.integer(3), process);
                 const auto known = call_of_.find(correlation);
                 if (known != call_of_.end()) {
                   trace::HostCall& call = out_.timeline.host_calls[known->second];
                   if (call.kind == trace::HostCallKind::kOther)
                     call.kind = trace::HostCallKind::kSync;
                   return;
                 }
                 trace::HostCall& call = out_.timeline.host_calls.emplace_back();
                 call.start_ns = when->start_ns;
                 call.end_ns = when->end_ns;
                 call.process = process;
                 call.kind = trace::HostCallKind::kSync;
                 call.name = names_.intern("synchronisation");
               });
  return read ? Status() : forward_error(read);
}

Status ExportReader::read_ranges() {
  constexpr std::int64_t kPushPop = 59;
  constexpr std::int64_t kStartEnd = 60;
  const auto read = each_row(
      "NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}, [&](Row row) {
        const std::int64_t type = row.integer(3).value_or(kPushPop);
        if ((type != kPushPop && type != kStartEnd) || !row.integer(kEnd)) return;
        const auto when = when_of(row);
        if (!when) return;
        const std::string_view text = row.text(4).empty() ? string_of(row.integer(5)) : row.text(4);
        ranges_.add(text, {*when, process_in(row.integer(2)), thread_in(row.integer(2))});
      });
  return read ? Status() : forward_error(read);
}

std::int32_t ExportReader::device_of(const Reading<std::int64_t>& cuda_device,
                                     std::int64_t process) const {
  if (!cuda_device) return 0;
  const auto known = machine_device_.find({process, *cuda_device});
  return known != machine_device_.end() ? known->second : small_number(cuda_device);
}

std::string_view ExportReader::string_of(const Reading<std::int64_t>& id) const {
  if (!id) return {};
  const auto found = strings_.find(*id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

void ExportReader::say_what_is_missing() {
  const auto lacks = [this](std::string_view table) { return missing_.contains(table); };
  const auto remark = [this](std::string text) { out_.remarks.push_back(std::move(text)); };
  const trace::Timeline& timeline = out_.timeline;
  if (timeline.device_ops.empty()) {
    remark("the export holds nothing that ran on a GPU: record with `nsys profile --trace=cuda`");
  } else if (lacks("CUPTI_ACTIVITY_KIND_RUNTIME")) {
    remark(
        "the export has no calls of CUDA (CUPTI_ACTIVITY_KIND_RUNTIME): why a GPU waited for "
        "the host cannot be told");
  }
  if (lacks("CUPTI_ACTIVITY_KIND_MEMCPY.srcKind")) {
    remark("this version of the export does not say whether memory was pageable");
  }
  if (timeline.steps.empty()) {
    remark(lacks("NVTX_EVENTS")
               ? "the export has no NVTX ranges, so that nothing marks the steps: record with "
                 "`--trace=cuda,nvtx` and mark them with torch.cuda.nvtx.range(\"step\")"
               : "no NVTX range marks the training steps: names such as \"step 12\" or \"batch\" "
                 "would, or torch.autograd.profiler.emit_nvtx()");
  }
  if (timeline.loader_waits.empty()) {
    remark(
        "no NVTX range marks the waits for the data loader, so that they count among what the "
        "host did: a range named \"data_loading\" around next() would tell them apart");
  }
}

Result<NsysImport> ExportReader::finish() {
  ranges_.finish(out_.timeline);
  trace::sort_by_start(out_.timeline);
  if (const Status listed = trace::list_devices(described_, out_.timeline); !listed) {
    return forward_error(listed);
  }
  say_what_is_missing();
  return std::move(out_);
}

}  // namespace unstarve::observe
