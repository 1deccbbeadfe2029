#include "base/ring/ring_names.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "base/io/read.h"
#include "base/io/write.h"

namespace unstarve {

namespace {

constexpr std::size_t kNameBytesMax = 4096;
constexpr std::size_t kNamesMax = 1'000'000;

/// A name on one line.
std::string as_line(std::string_view name) {
  std::string line(name.substr(0, kNameBytesMax));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char letter) { return letter < ' '; }, '?');
  return line;
}

}  // namespace

std::string ring_names_path(const std::string& ring_path) { return ring_path + ".names"; }

Result<RingNamesWriter> RingNamesWriter::create(const std::string& ring_path) {
  io::Files files;
  Result<FileDescriptor> file =
      files.open(ring_names_path(ring_path), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (!file) return forward_error(file);
  return RingNamesWriter(std::move(*file));
}

std::uint64_t RingNamesWriter::number_of(std::string_view name) {
  std::string line = as_line(name);
  const auto known = numbers_.find(line);
  if (known != numbers_.end()) return known->second;
  if (failed_ || numbers_.size() >= kNamesMax) return kNoName;
  if (!io::write_all(file_.get(), line + '\n')) {
    failed_ = true;  // half a line may be there: the numbers of later ones would be wrong
    return kNoName;
  }
  const std::uint64_t number = numbers_.size();
  numbers_.emplace(std::move(line), number);
  return number;
}

std::string_view RingNamesReader::name(std::uint64_t number) {
  if (number >= names_.size() && number < kNamesMax) read_on();
  return number < names_.size() ? std::string_view(names_[number]) : std::string_view();
}

void RingNamesReader::read_on() {
  io::Files files;
  const Result<io::OpenFile> opened = io::open_regular(files, path_, O_RDONLY);
  if (!opened) return;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const Result<std::size_t> read = io::read_available(files, opened->file.get(), offset_,
                                                        std::as_writable_bytes(std::span(piece)));
    if (!read || *read == 0) return;
    offset_ += *read;
    for (const char letter : std::span(piece).first(*read)) {
      if (letter != '\n') {
        if (begun_.size() < kNameBytesMax) begun_.push_back(letter);
        continue;
      }
      if (names_.size() == kNamesMax) return;
      names_.push_back(std::exchange(begun_, {}));
    }
  }
}

}  // namespace unstarve
