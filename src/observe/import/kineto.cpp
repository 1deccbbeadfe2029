#include "observe/import/kineto.h"

#include <utility>
#include <vector>

#include "observe/import/byte_source.h"
#include "observe/import/event_reader.h"
#include "observe/import/json_window.h"
#include "observe/import/object_scan.h"
#include "observe/import/timeline_builder.h"

namespace unstarve::observe {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kLongestKey = 4096;

/// Walks over the JSON text of one trace and hands its events to a TimelineBuilder.
class KinetoReader {
 public:
  KinetoReader(ByteSource& source, std::string name, const ImportOptions& options)
      : source_(source),
        options_(options),
        name_(std::move(name)),
        window_(source, options.window_bytes, options.max_value_bytes),
        builder_(name_, {options.max_events, options.max_name_bytes}) {}

  Result<trace::Timeline> read();

 private:
  Status read_document();
  Status read_top_level_object();
  Status read_member(const std::string& key);
  Status read_events(bool may_end_early);
  Status read_found_events(std::string_view text);
  Status read_device_properties();
  Result<std::string> read_key();
  /// Walks over one value; when `copy` is given, the value's text is appended to it.
  Status skip_value(std::string* copy);

  /// The next byte that is no white space, or kEnd.
  int peek_token();
  bool skip_mark();
  tl::unexpected<Error> wrong(std::string_view what, std::uint64_t at) const;
  /// For an end where more should come: what stopped the source, or that the file is cut off.
  tl::unexpected<Error> ended(std::string_view where) const;
  void tell_progress();

  ByteSource& source_;
  const ImportOptions& options_;
  std::string name_;
  JsonWindow window_;
  EventReader event_reader_;
  TimelineBuilder builder_;
  EventFields fields_;
  std::vector<ObjectSpan> spans_;
  bool found_events_ = false;
};

tl::unexpected<Error> KinetoReader::wrong(std::string_view what, std::uint64_t at) const {
  return fail(ErrorCode::kCorruptData, "{} is not a readable trace: {} at {} {}", name_, what,
              source_.position_word(), at);
}

tl::unexpected<Error> KinetoReader::ended(std::string_view where) const {
  if (window_.error()) {
    // Errors of the source name the file themselves; those of the window do not.
    const Error& error = *window_.error();
    if (error.message.find(name_) != std::string::npos) return tl::unexpected<Error>(error);
    return wrong(error.message, window_.offset());
  }
  return fail(ErrorCode::kCorruptData, "{} is cut off: it ends {} at {} {}", name_, where,
              source_.position_word(), window_.offset() + window_.unread().size());
}

void KinetoReader::tell_progress() {
  if (options_.progress) options_.progress(source_.done_bytes(), source_.total_bytes());
}

int KinetoReader::peek_token() {
  for (;;) {
    const std::string_view unread = window_.unread();
    const std::size_t spaces = unread.find_first_not_of(kSpaces);
    if (spaces != unread.npos) {
      window_.consume(spaces);
      return static_cast<unsigned char>(unread[spaces]);
    }
    window_.consume(unread.size());
    if (window_.peek() == JsonWindow::kEnd) return JsonWindow::kEnd;
  }
}

Result<trace::Timeline> KinetoReader::read() {
  if (const Status read = read_document(); !read) return forward_error(read);
  tell_progress();
  return builder_.finish();
}

bool KinetoReader::skip_mark() {
  // A byte order mark, which some editors put before the text.
  if (window_.peek() == JsonWindow::kEnd || !window_.unread().starts_with("\xEF\xBB\xBF")) {
    return false;
  }
  window_.consume(3);
  return true;
}

Status KinetoReader::read_document() {
  skip_mark();
  const int first = peek_token();
  if (first == JsonWindow::kEnd) return ended("before any JSON");
  if (first == '[') {
    window_.consume(1);
    // The Chrome format lets an array of events end without its bracket.
    if (const Status events = read_events(true); !events) return events;
  } else if (first == '{') {
    if (const Status object = read_top_level_object(); !object) return object;
  } else {
    return wrong(fmt::format("expected JSON, found byte 0x{:02x}", first), window_.offset());
  }
  if (peek_token() != JsonWindow::kEnd) return wrong("more text after the end", window_.offset());
  if (window_.error()) return ended("after the end");
  if (!found_events_) {
    return fail(ErrorCode::kCorruptData,
                "{} is JSON but not a trace: it has no traceEvents (export one with "
                "torch.profiler's export_chrome_trace)",
                name_);
  }
  return {};
}

Status KinetoReader::read_top_level_object() {
  window_.consume(1);
  if (peek_token() == '}') {
    window_.consume(1);
    return {};
  }
  for (;;) {
    Result<std::string> key = read_key();
    if (!key) return forward_error(key);
    if (const Status member = read_member(*key); !member) return member;
    const int next = peek_token();
    if (next == JsonWindow::kEnd) return ended("inside its top-level object");
    if (next != ',' && next != '}') return wrong("expected , or }", window_.offset());
    window_.consume(1);
    if (next == '}') return {};
  }
}

Result<std::string> KinetoReader::read_key() {
  const int quote = peek_token();
  if (quote == JsonWindow::kEnd) return ended("inside its top-level object");
  if (quote != '"') return wrong("expected the name of a member", window_.offset());
  window_.consume(1);
  std::string key;
  for (;;) {
    const int c = window_.peek();
    if (c == JsonWindow::kEnd) return ended("inside a name");
    window_.consume(1);
    if (c == '"') break;
    key.push_back(static_cast<char>(c));
    if (key.size() > kLongestKey) return wrong("name of a member too long", window_.offset());
  }
  const int colon = peek_token();
  if (colon == JsonWindow::kEnd) return ended("after a name");
  if (colon != ':') return wrong("expected :", window_.offset());
  window_.consume(1);
  return key;
}

Status KinetoReader::read_member(const std::string& key) {
  const int first = peek_token();
  if (first == JsonWindow::kEnd) return ended("before a value");
  if (key == "traceEvents") {
    if (first != '[') return wrong("traceEvents is not an array", window_.offset());
    window_.consume(1);
    return read_events(false);
  }
  if (key == "deviceProperties") return read_device_properties();
  return skip_value(nullptr);
}

Status KinetoReader::read_device_properties() {
  const std::uint64_t start = window_.offset();
  std::string text;
  if (const Status skipped = skip_value(&text); !skipped) return skipped;
  const std::size_t size = text.size();
  text.resize(size + JsonWindow::kPadding);
  std::vector<trace::DeviceInfo> devices;
  const Status read = event_reader_.read_devices(std::string_view(text).substr(0, size), devices);
  if (!read) return wrong("deviceProperties: " + read.error().message, start);
  builder_.describe_devices(std::move(devices));
  return {};
}

Status KinetoReader::skip_value(std::string* copy) {
  std::size_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  bool any = false;
  for (;;) {
    const int c = window_.peek();
    if (c == JsonWindow::kEnd) return ended("inside a value");
    const bool closes = !in_string && (c == '}' || c == ']');
    if (depth == 0 && !in_string && (closes || c == ',')) {
      return any ? Status() : wrong("expected a value", window_.offset());
    }
    any = true;
    if (copy != nullptr) {
      if (copy->size() >= options_.max_value_bytes)
        return wrong("value too long", window_.offset());
      copy->push_back(static_cast<char>(c));
    }
    window_.consume(1);
    const bool was_escaped = std::exchange(escaped, in_string && !escaped && c == '\\');
    if (c == '"' && !was_escaped) in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (closes) --depth;
    if (closes && depth == 0) return {};
  }
}

Status KinetoReader::read_events(bool may_end_early) {
  found_events_ = true;
  for (;;) {
    spans_.clear();
    const std::string_view unread = window_.unread();
    const std::size_t done = find_objects(unread, spans_);
    if (const Status read = read_found_events(unread); !read) return read;
    window_.consume(done);
    int next = peek_token();
    while (next == ',') {
      window_.consume(1);
      next = peek_token();
    }
    if (next == ']') {
      window_.consume(1);
      return {};
    }
    if (next == JsonWindow::kEnd && may_end_early && !window_.error()) return {};
    if (next == JsonWindow::kEnd) return ended("inside traceEvents");
    if (next != '{') return wrong("expected an event", window_.offset());
    // The first event of what is unread is not complete yet, or nothing has been looked at.
    if (spans_.empty() && !window_.read_more()) return ended("inside an event");
    tell_progress();
  }
}

Status KinetoReader::read_found_events(std::string_view text) {
  const std::uint64_t offset = window_.offset();
  for (const ObjectSpan& span : spans_) {
    const std::string_view event = text.substr(span.begin, span.end - span.begin);
    if (!worth_reading(event)) continue;
    std::size_t error_at = 0;
    if (const Status read = event_reader_.read_event(event, fields_, error_at); !read) {
      return wrong("event with " + read.error().message, offset + span.begin + error_at);
    }
    if (const Status added = builder_.add(fields_); !added) {
      return wrong(added.error().message, offset + span.begin);
    }
  }
  return {};
}

}  // namespace

namespace {

Result<trace::Timeline> import_from(const Result<std::unique_ptr<ByteSource>>& source,
                                    const std::string& name, const ImportOptions& options) {
  if (!source) return forward_error(source);
  return KinetoReader(**source, name, options).read();
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
