#include "golden/nsys_export.h"

#include <fmt/format.h>

#include <stdexcept>

#include "trace/store/sqlite.h"

namespace unstarve::golden {

namespace {

using trace::CopyDirection;
using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::MemoryKind;

constexpr std::int64_t kVirtualMachine = std::int64_t{1} << 56;

std::int64_t global_id(std::int64_t process, std::int64_t thread) {
  return kVirtualMachine | (process << 24) | thread;
}

std::int64_t memory_number(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable: return 0;
    case MemoryKind::kPinned: return 1;
    case MemoryKind::kDevice: return 2;
    case MemoryKind::kManaged: return 4;
    case MemoryKind::kUnknown: return 7;
  }
  return 7;
}

std::int64_t direction_number(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kUnknown: return 0;
    case CopyDirection::kHostToDevice: return 1;
    case CopyDirection::kDeviceToHost: return 2;
    case CopyDirection::kDeviceToDevice: return 8;
    case CopyDirection::kHostToHost: return 9;
    case CopyDirection::kPeerToPeer: return 10;
  }
  return 0;
}

/// Writes the tables one after another.
class Writer {
 public:
  Writer(const trace::Timeline& timeline, const std::string& path, const ExportLacks& lacks)
      : timeline_(timeline), lacks_(lacks), database_(open(path)) {
    run("PRAGMA synchronous = OFF");
    run("BEGIN");
  }

  void write() {
    run("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)");
    run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.0')");
    run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
    for (std::size_t i = 0; i < timeline_.names.size(); ++i) {
      run(fmt::format("INSERT INTO StringIds VALUES ({}, '{}')", i, timeline_.names[i]));
    }
    write_devices();
    write_operations();
    if (!lacks_.runtime) write_calls();
    if (!lacks_.nvtx) write_ranges();
    run("COMMIT");
  }

 private:
  static trace::Database open(const std::string& path) {
    auto database = trace::Database::create(path);
    if (!database) throw std::runtime_error(database.error().message);
    return *std::move(database);
  }

  void run(const std::string& sql) {
    if (const Status done = database_.execute(sql.c_str()); !done) {
      throw std::runtime_error(done.error().message);
    }
  }

  std::int64_t process() const {
    return timeline_.steps.empty() ? 1 : timeline_.steps.front().process;
  }

  void write_devices() {
    run("CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, "
        "smCount INTEGER)");
    run("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-40GB', 42505076736, 108)");
  }

  /// The columns that all tables of operations have, and their values for one.
  std::string operation_columns() const {
    return fmt::format(
        "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
        "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
        "correlationId INTEGER{}",
        lacks_.global_ids ? "" : ", globalPid INTEGER");
  }
  std::string operation_values(const DeviceOp& op) const {
    const std::string pid = lacks_.global_ids ? "" : fmt::format(", {}", global_id(process(), 0));
    return fmt::format("{}, {}, {}, 1, {}, {}{}", op.start_ns, op.end_ns, op.device, op.stream,
                       op.correlation, pid);
  }

  void write_operations() {
    const std::string common = operation_columns();
    run(
        fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({}, demangledName INTEGER NOT NULL, "
                    "shortName INTEGER NOT NULL, gridX INTEGER)",
                    common));
    run(
        fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({}, bytes INTEGER NOT NULL, "
                    "copyKind INTEGER NOT NULL{})",
                    common, lacks_.memory_kinds ? "" : ", srcKind INTEGER, dstKind INTEGER"));
    for (const DeviceOp& op : timeline_.device_ops) {
      if (op.kind == DeviceOpKind::kCopy) {
        const std::string kinds =
            lacks_.memory_kinds
                ? ""
                : fmt::format(", {}, {}", memory_number(op.source), memory_number(op.target));
        run(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({}, {}, {}{})",
                        operation_values(op), op.bytes, direction_number(op.direction), kinds));
      } else {
        run(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, {}, 1)",
                        operation_values(op), op.name, op.name));
      }
    }
  }

  void write_calls() {
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
        "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER)");
    for (const trace::HostCall& call : timeline_.host_calls) {
      const std::int64_t process = lacks_.global_ids ? 0 : call.process;
      run(
          fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, {}, {}, 0, "
                      "NULL)",
                      call.start_ns, call.end_ns, global_id(process, call.thread), call.correlation,
                      call.name));
    }
  }

  void write_range(const trace::Interval& when, std::int64_t process, std::int64_t thread,
                   const std::string& text) {
    constexpr int kPushPop = 59;
    run(fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, {}, '{}', {}, NULL, 0)", when.start_ns,
                    when.end_ns, kPushPop, text, global_id(process, thread)));
  }

  void write_ranges() {
    run("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT "
        "NULL, "
        "text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER)");
    for (const trace::Step& step : timeline_.steps) {
      const std::int64_t process = lacks_.global_ids ? 0 : step.process;
      write_range(step.when, process, step.thread, fmt::format("step {}", step.index));
    }
    for (const trace::LoaderWait& wait : timeline_.loader_waits) {
      const std::int64_t process = lacks_.global_ids ? 0 : wait.process;
      write_range(wait.when, process, wait.thread,
                  "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    }
  }

  const trace::Timeline& timeline_;
  const ExportLacks& lacks_;
  trace::Database database_;
};

}  // namespace

void write_nsys_export(const trace::Timeline& timeline, const std::string& path,
                       const ExportLacks& lacks) {
  Writer(timeline, path, lacks).write();
}

}  // namespace unstarve::golden
