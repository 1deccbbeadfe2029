#include "observe/import/kineto.h"

#include <utility>
#include <vector>

#include "observe/import/byte_source.h"
#include "observe/import/event_reader.h"
#include "observe/import/timeline_builder.h"
#include "observe/import/trace_walker.h"

namespace unstarve::observe {

namespace {

/// Hands the events of a trace to a TimelineBuilder.
class KinetoReader : public TraceListener {
 public:
  KinetoReader(const std::string& name, const ImportOptions& options)
      : builder_(name, {options.max_events, options.max_name_bytes}) {}

  Status event(std::string_view json, std::size_t& error_at) override;
  Status devices(std::string_view json) override;
  void distributed(std::string_view json) override;
  Result<trace::Timeline> finish() { return builder_.finish(); }

 private:
  EventReader event_reader_;
  TimelineBuilder builder_;
  EventFields fields_;
};

Status KinetoReader::event(std::string_view json, std::size_t& error_at) {
  if (!worth_reading(json)) return {};
  if (const Status read = event_reader_.read_event(json, fields_, error_at); !read) {
    return fail(read.error().code, "event with {}", read.error().message);
  }
  error_at = 0;
  return builder_.add(fields_);
}

Status KinetoReader::devices(std::string_view json) {
  std::vector<trace::DeviceInfo> devices;
  if (const Status read = event_reader_.read_devices(json, devices); !read) return read;
  builder_.describe_devices(std::move(devices));
  return {};
}

void KinetoReader::distributed(std::string_view json) {
  if (const auto number = event_reader_.read_rank(json)) builder_.set_rank(*number);
}

Result<trace::Timeline> import_from(const Result<std::unique_ptr<ByteSource>>& source,
                                    const std::string& name, const ImportOptions& options) {
  if (!source) return forward_error(source);
  KinetoReader reader(name, options);
  TraceWalker walker(**source, name, options, reader);
  if (const Status read = walker.read(); !read) return forward_error(read);
  return reader.finish();
}

}  // namespace

Result<trace::Timeline> import_kineto(const std::string& path, const ImportOptions& options) {
  return import_from(open_byte_source(path), path, options);
}

Result<trace::Timeline> import_kineto_bytes(std::span<const char> bytes, const std::string& name,
                                            const ImportOptions& options) {
  return import_from(make_memory_source(bytes, name), name, options);
}

}  // namespace unstarve::observe
