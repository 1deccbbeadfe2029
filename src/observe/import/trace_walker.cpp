#include "observe/import/trace_walker.h"

#include <optional>
#include <utility>

namespace unstarve::observe {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kLongestKey = 4096;

/// Where a text shows that a quote is missing before: in the middle of a string its line ends, or
/// outside of strings stands what only a string has.
std::optional<std::size_t> behind_missing_quote(std::string_view text) {
  // Structure, numbers, true, false, null, NaN, Infinity.
  constexpr std::string_view kOutside = "{}[]:, \t\r\n+-.0123456789eEtrufalsnNaIity";
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (in_string && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      in_string = !in_string;
    } else if (in_string ? text[at] == '\n' : kOutside.find(text[at]) == kOutside.npos) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace

tl::unexpected<Error> TraceWalker::wrong(std::string_view problem, std::uint64_t at) const {
  return fail(ErrorCode::kCorruptData, "{} is not a readable trace: {} at {} {}", name_, problem,
              source_.position_word(), at);
}

tl::unexpected<Error> TraceWalker::ended(std::string_view where) const {
  const std::optional<Error>& error = window_.error();
  // Errors of the source name the file themselves; those of the window do not.
  if (error && error->message.find(name_) != std::string::npos) return tl::unexpected(*error);
  if (const auto at = behind_missing_quote(window_.unread())) {
    return wrong("a quote is missing before what stands", window_.offset() + *at);
  }
  if (error) return wrong(error->message, window_.offset());
  return fail(ErrorCode::kCorruptData, "{} is cut off: it ends {} at {} {}", name_, where,
              source_.position_word(), window_.offset() + window_.unread().size());
}

void TraceWalker::tell_progress() {
  if (options_.progress) options_.progress(source_.done_bytes(), source_.total_bytes());
}

int TraceWalker::peek_token() {
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

Status TraceWalker::read() {
  if (const Status read = read_document(); !read) return read;
  tell_progress();
  return {};
}

bool TraceWalker::skip_mark() {
  // A byte order mark, which some editors put before the text.
  if (window_.peek() == JsonWindow::kEnd || !window_.unread().starts_with("\xEF\xBB\xBF")) {
    return false;
  }
  window_.consume(3);
  return true;
}

Status TraceWalker::read_document() {
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

Status TraceWalker::read_top_level_object() {
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

Result<std::string> TraceWalker::read_key() {
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

Status TraceWalker::read_member(const std::string& key) {
  const int first = peek_token();
  if (first == JsonWindow::kEnd) return ended("before a value");
  if (key == "traceEvents") {
    if (first != '[') return wrong("traceEvents is not an array", window_.offset());
    window_.consume(1);
    return read_events(false);
  }
  if (key == "deviceProperties") return read_device_properties();
  if (key == "distributedInfo") return read_distributed_info();
  return skip_value(nullptr);
}

Status TraceWalker::read_device_properties() {
  const std::uint64_t start = window_.offset();
  std::string text;
  if (const Status skipped = skip_value(&text); !skipped) return skipped;
  const std::size_t size = text.size();
  text.resize(size + JsonWindow::kPadding);
  const Status read = listener_.devices(std::string_view(text).substr(0, size));
  if (!read) return wrong("deviceProperties: " + read.error().message, start);
  return {};
}

Status TraceWalker::read_distributed_info() {
  std::string text;
  if (const Status skipped = skip_value(&text); !skipped) return skipped;
  const std::size_t size = text.size();
  text.resize(size + JsonWindow::kPadding);
  listener_.distributed(std::string_view(text).substr(0, size));
  return {};
}

Status TraceWalker::skip_value(std::string* copy) {
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

Status TraceWalker::read_events(bool may_end_early) {
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

Status TraceWalker::read_found_events(std::string_view text) {
  const std::uint64_t offset = window_.offset();
  for (const ObjectSpan& span : spans_) {
    const std::string_view event = text.substr(span.begin, span.end - span.begin);
    std::size_t error_at = 0;
    if (const Status read = listener_.event(event, error_at); !read) {
      return wrong(read.error().message, offset + span.begin + error_at);
    }
  }
  return {};
}

}  // namespace unstarve::observe
