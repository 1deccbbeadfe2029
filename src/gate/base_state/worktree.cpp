#include "gate/base_state/worktree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/shell_word.h"

namespace unstarve::gate {

namespace {

namespace fs = std::filesystem;

struct Answer {
  int status = 0;
  std::string text;
};

/// What git says on its standard output. Nothing of a repository's configuration is run: no hooks.
Answer git(const std::string& folder, const std::string& arguments) {
  const std::string command = fmt::format(
      "git -C {} -c core.hooksPath=/dev/null {} </dev/null "
      "2>/dev/null",
      shell_word(folder), arguments);
  Answer answer;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, {}};
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof(part), pipe)) > 0;) {
    answer.text.append(part, got);
  }
  answer.status = ::pclose(pipe);
  return answer;
}

std::string line_of(const Answer& answer) { return answer.text.substr(0, answer.text.find('\n')); }

Result<std::string> make_folder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string pattern = ((error ? fs::path("/tmp") : parent) / "unstarve-base-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail_errno(errno, "cannot make a folder for the base: " + pattern);
  }
  return pattern;
}

}  // namespace

Result<Worktree> Worktree::check_out(const std::string& reference, const std::string& job_folder) {
  if (git(job_folder, "--version").status != 0) {
    return fail(
        ErrorCode::kNotSupported,
        "git does not run here: a git reference as the base needs it; give a baseline file");
  }
  const Answer root = git(job_folder, "rev-parse --show-toplevel");
  if (root.status != 0) {
    return fail(ErrorCode::kNotFound,
                "{} is in no git repository: the base '{}' can be neither a reference there nor is "
                "it a baseline file",
                job_folder, reference);
  }
  const Answer commit =
      git(job_folder, fmt::format("rev-parse --verify --quiet --end-of-options {}",
                                  shell_word(reference + "^{commit}")));
  if (commit.status != 0) {
    return fail(ErrorCode::kNotFound,
                "there is neither a baseline file '{}' nor such a git reference in {}", reference,
                line_of(root));
  }
  Worktree made;
  made.repository_ = line_of(root);
  made.commit_ = line_of(git(job_folder, fmt::format("rev-parse --short {}", line_of(commit))));
  auto folder = make_folder();
  if (!folder) return forward_error(folder);
  const Answer added =
      git(made.repository_, fmt::format("worktree add --quiet --detach --force {} {}",
                                        shell_word(*folder), line_of(commit)));
  made.folder_ = *std::move(folder);
  if (added.status != 0) {
    return fail(ErrorCode::kNotSupported, "git could not check out {} into {}", reference,
                made.folder_);
  }
  const std::string within = line_of(git(job_folder, "rev-parse --show-prefix"));
  made.job_folder_ = (fs::path(made.folder_) / within).lexically_normal().string();
  if (const Status linked = made.link_untracked(); !linked) return forward_error(linked);
  std::error_code missing;
  if (!fs::is_directory(made.job_folder_, missing)) {
    return fail(ErrorCode::kNotFound, "{} has no folder {}", reference, within);
  }
  return made;
}

Status Worktree::link_untracked() {
  const Answer listed = git(repository_, "ls-files --others --directory --no-empty-directory -z");
  if (listed.status != 0) {
    return fail(ErrorCode::kIo, "git could not list what {} does not track", repository_);
  }
  for (std::size_t from = 0; from < listed.text.size();) {
    const std::size_t end = std::min(listed.text.find('\0', from), listed.text.size());
    std::string name = listed.text.substr(from, end - from);
    from = end + 1;
    while (name.ends_with('/')) name.pop_back();
    if (name.empty()) continue;
    const fs::path link = fs::path(folder_) / name;
    std::error_code error;
    if (fs::exists(fs::symlink_status(link, error))) continue;  // the reference has it
    fs::create_directories(link.parent_path(), error);
    fs::create_symlink(fs::path(repository_) / name, link, error);
    if (error) return fail_errno(error.value(), "cannot link " + link.string());
  }
  return {};
}

std::vector<std::string> Worktree::command_there(const std::vector<std::string>& command) const {
  std::vector<std::string> words;
  const std::string within = repository_ + "/";
  for (const std::string& word : command) {
    const std::string path = fs::path(word).lexically_normal().string();
    const bool is_within = fs::path(word).is_absolute() && path.starts_with(within);
    words.push_back(is_within ? folder_ + "/" + path.substr(within.size()) : word);
  }
  return words;
}

Worktree::Worktree(Worktree&& other) noexcept { *this = std::move(other); }

Worktree& Worktree::operator=(Worktree&& other) noexcept {
  if (this == &other) return *this;
  remove();
  repository_ = std::move(other.repository_);
  folder_ = std::exchange(other.folder_, {});
  job_folder_ = std::move(other.job_folder_);
  commit_ = std::move(other.commit_);
  return *this;
}

Worktree::~Worktree() { remove(); }

void Worktree::remove() {
  if (folder_.empty()) return;
  git(repository_, fmt::format("worktree remove --force {}", shell_word(folder_)));
  std::error_code gone;
  fs::remove_all(folder_, gone);  // links go, not what they lead to
  git(repository_, "worktree prune");
  folder_.clear();
}

}  // namespace unstarve::gate
