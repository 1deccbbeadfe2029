#include "trace/ring_follower.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "trace/device_activity.h"
#include "trace/hook_event.h"

namespace unstarve::trace {

RingFollower::RingFollower(RingReader reader, std::string file)
    : reader_(std::move(reader)), kernel_names_(reader_.path()), stacks_(reader_.path()) {
  mark_.file = std::move(file);
}

Result<RingFollower> RingFollower::open(const std::string& path) {
  Result<RingReader> reader = RingReader::open(path);
  if (!reader) return forward_error(reader);
  return RingFollower(std::move(*reader), std::filesystem::path(path).filename().string());
}

ProcessId RingFollower::process() const {
  return {static_cast<std::int64_t>(reader_.writer_pid()), reader_.created_ns()};
}

void RingFollower::skip_to(const RingMark& mark) {
  reader_.skip_to(mark.position);
  lost_before_ = mark.lost;
  mark_.position = mark.position;
  mark_.lost = mark.lost;
  mark_.damaged = mark.damaged;
  announced_ = mark.position > 0;
}

Status RingFollower::read_text(RunSink& sink) {
  Result<std::string> text = reader_.text();
  if (!text) return forward_error(text);
  // Empty: none yet, or just being replaced.
  if (text->empty() || *text == text_) return {};
  if (is_device_ring()) {
    std::optional<DeviceRingText> parsed = parse_device_ring_text(*text);
    if (!parsed) return {};
    kernel_names_.set_text(*parsed);
    device_ = parsed->index.value_or(-1);
    for (const DeviceRow& device : parsed->devices) sink.add(device);
    if (!parsed->remark.empty()) {
      remark_ =
          fmt::format("the GPU's activity of process {}: {}", reader_.writer_pid(), parsed->remark);
    }
  } else {
    sink.set_process_text(process(), *text);
  }
  text_ = std::move(*text);
  return {};
}

Status RingFollower::drain(RunSink& sink) {
  const ProcessId id = process();
  if (!announced_ && !is_device_ring()) {
    // Also where the process's own first record is already overwritten.
    ProcessRow row;
    row.id = id;
    row.started_ns = reader_.created_ns();
    sink.add(row);
  }
  announced_ = true;
  // The text before the records: it holds the names that they refer to.
  if (const Status read = read_text(sink); !read) return read;
  const DeviceRingView view{
      .names = &kernel_names_, .device = device_, .process = id.pid, .born_ns = id.born_ns};
  const Result<std::uint64_t> drained =
      reader_.drain([this, &id, &view, &sink](std::span<const std::byte> record) {
        bool whole = true;
        if (is_device_ring()) {
          whole = decode_device_activity(record, view, sink);
        } else {
          const HookRecord taken = decode_hook_event(record, id, sink, &stacks_);
          if (taken == HookRecord::kEnd) writer_ended_ = true;
          whole = taken != HookRecord::kDamaged;
        }
        if (!whole) ++mark_.damaged;
      });
  const std::uint64_t lost = lost_before_ + reader_.lost();
  if (reader_.position() != mark_.position || lost != mark_.lost) {
    mark_.position = reader_.position();
    mark_.lost = lost;
    sink.set_mark(mark_, is_device_ring());
  }
  if (!drained) return forward_error(drained);
  return {};
}

std::vector<std::string> missing_rings(const std::string& dir) {
  // hook-PID-NS.errno-N or cupti-PID-NS.errno-N, an empty file.
  struct Writer {
    std::string_view prefix;
    const char* what;
    const char* size;
  };
  static constexpr Writer kWriters[] = {{"hook-", "its steps and waits", "1 MiB"},
                                        {"cupti-", "what its GPUs do", "16 MiB"}};
  constexpr std::string_view kExtension = ".errno-";
  std::vector<std::string> words;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(dir, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const std::size_t extension = name.find(kExtension);
    if (extension == std::string::npos) continue;
    int os_errno = 0;
    std::from_chars(name.data() + extension + kExtension.size(), name.data() + name.size(),
                    os_errno);
    for (const Writer& writer : kWriters) {
      if (name.compare(0, writer.prefix.size(), writer.prefix) != 0) continue;
      const std::size_t begin = writer.prefix.size();
      words.push_back(fmt::format(
          "process {} of the job could not record {}: its file of {} in {} could not be made: {}",
          name.substr(begin, name.find('-', begin) - begin), writer.what, writer.size, dir,
          std::generic_category().message(os_errno)));
    }
  }
  std::sort(words.begin(), words.end());
  return words;
}

bool is_device_ring(std::string_view file) {
  return file.starts_with("cupti-") || file.starts_with("gpu-");
}

Result<std::vector<std::string>> list_rings(const std::string& dir) {
  std::vector<std::string> paths;
  const Status listed = io::Files().list(dir, [&dir, &paths](std::string_view name) {
    if (name.ends_with(".ring")) paths.push_back(fmt::format("{}/{}", dir, name));
  });
  if (!listed && listed.error().os_errno != ENOENT) {
    return fail_again(listed.error(), fmt::format("cannot list the rings in {}", dir));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace unstarve::trace
