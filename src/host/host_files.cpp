#include "host/host_files.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/io/read.h"

namespace unstarve::host {

HostFiles::HostFiles(std::string root, std::shared_ptr<io::Files> files)
    : root_(std::move(root)), files_(std::move(files)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

Result<std::string> HostFiles::read(const std::string& path, std::size_t bytes_max) const {
  return io::read_text(*files_, root_ + path, bytes_max);
}

Result<std::vector<std::int64_t>> HostFiles::list_numbers(const std::string& path) const {
  std::vector<std::int64_t> numbers;
  const Status listed = files_->list(root_ + path, [&numbers](std::string_view name) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  });
  if (!listed) return fail_again(listed.error(), "cannot list " + root_ + path);
  return numbers;
}

bool HostFiles::exists(const std::string& path) const { return files_->exists(root_ + path); }

Result<std::string> HostFiles::link_target(const std::string& path) const {
  return files_->link_target(root_ + path);
}

}  // namespace unstarve::host
