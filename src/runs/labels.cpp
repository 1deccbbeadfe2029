#include "runs/labels.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/io/read.h"
#include "base/io/write.h"

namespace unstarve::runs {

namespace {

constexpr std::size_t kTagBytesMax = 64;
constexpr std::size_t kTagsMax = 100;

bool is_tag(std::string_view tag) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !tag.empty() && tag.size() <= kTagBytesMax && plain(tag[0]) &&
         std::all_of(tag.begin(), tag.end(), [&plain](char c) {
           return plain(c) || std::string_view("._-=+:@").find(c) != std::string_view::npos;
         });
}

std::string tag_path(const std::string& folder, const std::string& tag) {
  return folder + "/" + kTagsFolder + "/" + tag;
}

}  // namespace

Labels read_labels(const std::string& folder) {
  Labels labels;
  io::Files files;
  (void)files.list(folder + "/" + kTagsFolder, [&labels](std::string_view name) {
    if (is_tag(name) && labels.tags.size() < kTagsMax) labels.tags.emplace_back(name);
  });
  std::sort(labels.tags.begin(), labels.tags.end());
  const std::string note = folder + "/" + kNoteFile;
  if (auto text = io::read_text(files, note, kNoteBytesMax)) labels.note = *std::move(text);
  return labels;
}

Status check_tag(const std::string& tag) {
  if (is_tag(tag)) return {};
  return fail(ErrorCode::kInvalidArgument,
              "'{}' is no tag: letters, digits and . _ - = + : @ make one, at most {}, and a "
              "letter or a digit comes first",
              tag, kTagBytesMax);
}

Status add_tag(const std::string& folder, const std::string& tag) {
  if (Status fine = check_tag(tag); !fine) return fine;
  const std::string tags = folder + "/" + kTagsFolder;
  if (::mkdir(tags.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail_errno(errno, fmt::format("cannot tag the run {}", folder));
  }
  io::Files files;
  const auto file = files.open(tag_path(folder, tag), O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
  return file ? Status() : fail_again(file.error(), fmt::format("cannot tag the run {}", folder));
}

Status remove_tag(const std::string& folder, const std::string& tag) {
  if (Status fine = check_tag(tag); !fine) return fine;
  io::Files files;
  const Status removed = files.remove(tag_path(folder, tag));
  if (removed || removed.error().os_errno == ENOENT) return {};
  return fail_again(removed.error(), fmt::format("cannot remove the tag {} of {}", tag, folder));
}

Status write_note(const std::string& folder, const std::string& note) {
  if (note.size() > kNoteBytesMax) {
    return fail(ErrorCode::kInvalidArgument, "the note has {} bytes; at most {} are kept",
                note.size(), kNoteBytesMax);
  }
  const std::string path = folder + "/" + kNoteFile;
  if (!note.empty()) return io::replace_file(path, note);
  io::Files files;
  const Status removed = files.remove(path);
  if (removed || removed.error().os_errno == ENOENT) return {};
  return fail_again(removed.error(), "cannot remove " + path);
}

}  // namespace unstarve::runs
