#include "roofline/roofs/collective/torch_collectives.h"

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "roofline/roofs/interpreter/printing_process.h"
#include "roofline/roofs/interpreter/scripts.h"

namespace unstarve::roofline {

namespace {

constexpr int kRanksPollMs = 100;
constexpr std::size_t kMostLineBytes = 1U << 20;

/// A folder for the file by which the ranks find each other; goes with the object.
class MeetingFolder {
 public:
  static Result<MeetingFolder> make() {
    std::error_code failed;
    std::string path =
        (std::filesystem::temp_directory_path(failed) / "unstarve-roofline-XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr) {
      return fail_errno(errno, "cannot make a folder for temporary files");
    }
    return MeetingFolder(std::move(path));
  }
  MeetingFolder(MeetingFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  MeetingFolder& operator=(MeetingFolder&&) = delete;
  ~MeetingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string file() const { return path_ + "/store"; }

 private:
  explicit MeetingFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// One rank's process, and what it has printed of a line that is not whole yet.
struct Rank {
  PrintingProcess process;
  std::string line;
  bool imported = false;
};

/// Listens to all ranks until the first has done, one fails, or nothing is heard for too long.
class Listener {
 public:
  Listener(const TorchCollectivesOptions& options, std::vector<Rank>& ranks, Session& session)
      : options_(options), ranks_(ranks), session_(session) {}

  Result<TorchCollectives> listen() {
    heard_ns_ = session_.clock().now_ns();
    while (!done_ && failure_.empty() && !session_.stopped()) {
      hear();
      if (failure_.empty() && !done_) check_silence();
    }
    if (failure_.empty()) return std::move(found_);
    if (!all_imported()) return fail(ErrorCode::kNotFound, "{}", failure_);
    found_.cut_short = failure_;
    found_.cut_at = doing_;
    return std::move(found_);
  }

 private:
  bool all_imported() const {
    for (const Rank& rank : ranks_) {
      if (!rank.imported) return false;
    }
    return true;
  }

  void hear() {
    std::vector<pollfd> waited;
    for (const Rank& rank : ranks_) waited.push_back({rank.process.output(), POLLIN, 0});
    if (::poll(waited.data(), waited.size(), kRanksPollMs) <= 0) return;
    for (std::size_t i = 0; i < ranks_.size() && failure_.empty() && !done_; ++i) {
      if (waited[i].revents != 0) read_from(i);
    }
  }

  void read_from(std::size_t index) {
    Rank& rank = ranks_[index];
    std::array<char, 4096> part{};
    const ssize_t count = ::read(rank.process.output(), part.data(), part.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return say_ended(index);
    heard_ns_ = session_.clock().now_ns();
    rank.line.append(part.data(), static_cast<std::size_t>(count));
    for (std::size_t end = rank.line.find('\n'); end != std::string::npos;
         end = rank.line.find('\n')) {
      take(rank, std::string_view(rank.line).substr(0, end));
      rank.line.erase(0, end + 1);
    }
    if (rank.line.size() > kMostLineBytes) failure_ = "torch prints on";
  }

  /// No rank ends by itself, except where it said why.
  void say_ended(std::size_t index) {
    const int status = ranks_[index].process.wait();
    failure_ = WIFSIGNALED(status)
                   ? fmt::format("rank {} was ended by signal {}", index, WTERMSIG(status))
                   : fmt::format("rank {} ended with status {}", index, WEXITSTATUS(status));
  }

  void take(Rank& rank, std::string_view line) {
    try {
      const auto message = nlohmann::json::parse(line);
      if (message.contains("error")) {
        failure_ = message.at("error").get<std::string>();
      } else if (message.contains("imported")) {
        rank.imported = true;
        found_.torch_version = message.at("torch").get<std::string>();
        found_.nccl_version = message.at("nccl").get<std::string>();
      } else if (message.contains("doing")) {
        doing_ = message.at("doing").get<std::string>();
        session_.doing(fmt::format("NCCL on {} GPUs: {}", options_.gpus, doing_));
      } else if (message.contains("done")) {
        done_ = true;
      } else {
        found_.times.push_back(
            {message.at("kind").get<std::string>(), message.at("size").get<std::string>(),
             message.at("bytes").get<std::int64_t>(), message.at("in_row").get<std::int64_t>(),
             message.at("seconds").get<std::vector<double>>()});
      }
    } catch (const nlohmann::json::exception&) {
      failure_ = "torch printed what nobody asked for";
    }
  }

  void check_silence() {
    const bool imported = all_imported();
    const std::int64_t limit_ns =
        imported ? options_.silence_limit_ns + options_.duration_ns : options_.import_limit_ns;
    if (session_.clock().now_ns() - heard_ns_ <= limit_ns) return;
    const double limit_s = static_cast<double>(limit_ns) / kNsPerS;
    failure_ = imported ? fmt::format("NCCL hangs: nothing was heard of it for {:.0f} s", limit_s)
                        : fmt::format("torch was not imported within {:.0f} s", limit_s);
  }

  const TorchCollectivesOptions& options_;
  std::vector<Rank>& ranks_;
  Session& session_;
  TorchCollectives found_;
  std::string doing_ = "start";
  std::string failure_;
  bool done_ = false;
  std::int64_t heard_ns_ = 0;
};

}  // namespace

Result<TorchCollectives> run_torch_collectives(const TorchCollectivesOptions& options,
                                               Session& session) {
  const auto folder = MeetingFolder::make();
  if (!folder) return forward_error(folder);
  std::vector<Rank> ranks;  // end before the folder goes
  for (int rank = 0; rank < options.gpus; ++rank) {
    auto process = PrintingProcess::start(
        {options.python, "-c", std::string(collectives_script()), std::to_string(rank),
         std::to_string(options.gpus),
         fmt::format("{:.3f}", static_cast<double>(options.duration_ns) / kNsPerS),
         folder->file()});
    if (!process) return forward_error(process);
    ranks.push_back({std::move(*process), {}, false});
  }
  return Listener(options, ranks, session).listen();
}

}  // namespace unstarve::roofline
