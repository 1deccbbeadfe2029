#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "observe/import/byte_source.h"
#include "observe/import/json_window.h"
#include "observe/import/kineto.h"
#include "observe/import/object_scan.h"

namespace unstarve::observe {

/// Who takes the parts of a trace, one after the other. Each text is followed by
/// JsonWindow::kPadding readable bytes and gone after the call.
class TraceListener {
 public:
  virtual ~TraceListener() = default;
  /// One element of traceEvents. An error has, in `error_at`, the byte within it.
  virtual Status event(std::string_view json, std::size_t& error_at) = 0;
  /// The value of deviceProperties.
  virtual Status devices(std::string_view json) = 0;
  /// The value of distributedInfo.
  virtual void distributed(std::string_view /*json*/) {}
};

/// Walks over the JSON text of one trace, a window at a time.
///
///   TraceWalker walker(*source, path, options, listener);
///   if (const Status read = walker.read(); !read) return forward_error(read);
///
/// Lifetime: all that it is given outlives it.
class TraceWalker {
 public:
  TraceWalker(ByteSource& source, std::string name, const ImportOptions& options,
              TraceListener& listener)
      : source_(source),
        options_(options),
        name_(std::move(name)),
        listener_(listener),
        window_(source, options.window_bytes, options.max_value_bytes) {}

  /// Errors name the file and the byte.
  Status read();

 private:
  Status read_document();
  Status read_top_level_object();
  Status read_member(const std::string& key);
  Status read_events(bool may_end_early);
  Status read_found_events(std::string_view text);
  Status read_device_properties();
  Status read_distributed_info();
  Result<std::string> read_key();
  /// Walks over one value; when `copy` is given, the value's text is appended to it.
  Status skip_value(std::string* copy);

  /// The next byte that is no white space, or kEnd.
  int peek_token();
  bool skip_mark();
  tl::unexpected<Error> wrong(std::string_view problem, std::uint64_t at) const;
  /// For an end where more should come: what stopped the source, or that the file is cut off.
  tl::unexpected<Error> ended(std::string_view where) const;
  void tell_progress();

  ByteSource& source_;
  const ImportOptions& options_;
  const std::string name_;
  TraceListener& listener_;
  JsonWindow window_;
  std::vector<ObjectSpan> spans_;
  bool found_events_ = false;
};

}  // namespace unstarve::observe
