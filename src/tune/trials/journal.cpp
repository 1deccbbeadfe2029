#include "tune/trials/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/io/write.h"

namespace unstarve::tune {

namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "unstarve.tune.journal/1";

std::string path_in(const std::string& folder) { return folder + "/journal.jsonl"; }

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json head_json(const JournalHead& head) {
  return {{"schema", kSchema},
          {"command", head.command},
          {"arguments", head.arguments},
          {"only", head.only},
          {"trial_seconds", head.trial_seconds},
          {"parity_steps", head.parity_steps},
          {"gpu", head.gpu},
          {"allowed", head.allowed},
          {"in_place", head.isolation.in_place},
          {"online", head.isolation.online}};
}

Result<std::vector<std::string>> words_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) {
    return fail(ErrorCode::kCorruptData, "it has no '{}'", key);
  }
  std::vector<std::string> words;
  for (const Json& word : *found) {
    if (!word.is_string()) return fail(ErrorCode::kCorruptData, "'{}' holds no words", key);
    words.push_back(word.get<std::string>());
  }
  return words;
}

Result<JournalHead> head_from(const Json& json) {
  if (!json.is_object() || json.value("schema", Json()) != Json(kSchema)) {
    return fail(ErrorCode::kCorruptData, "it is no journal of `unstarve tune`");
  }
  JournalHead head;
  for (const auto& [key, words] :
       {std::pair{"command", &head.command}, std::pair{"arguments", &head.arguments},
        std::pair{"only", &head.only}}) {
    auto read = words_at(json, key);
    if (!read) return forward_error(read);
    *words = *std::move(read);
  }
  const Json seconds = json.value("trial_seconds", Json());
  const Json steps = json.value("parity_steps", Json());
  const bool whole = seconds.is_number() && steps.is_number_integer() && !head.command.empty();
  if (!whole || !(seconds.get<double>() > 0) || steps.get<std::int64_t>() < 0 ||
      steps.get<std::int64_t>() > 100'000) {
    return fail(ErrorCode::kCorruptData, "its first line is not whole");
  }
  head.trial_seconds = seconds.get<double>();
  head.parity_steps = steps.get<int>();
  head.isolation.in_place = json.value("in_place", Json()) == Json(true);
  head.isolation.online = json.value("online", Json()) == Json(true);
  const Json gpu = json.value("gpu", Json());
  if (gpu.is_string()) head.gpu = gpu.get<std::string>();
  if (json.contains("allowed")) {
    auto allowed = words_at(json, "allowed");
    if (!allowed) return forward_error(allowed);
    head.allowed = *std::move(allowed);
  }
  return head;
}

}  // namespace

Result<Journal> Journal::create(const std::string& folder, const JournalHead& head) {
  Journal journal;
  journal.head_ = head;
  const std::string path = path_in(folder);
  journal.file_ = FileDescriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!journal.file_) {
    if (errno == EEXIST) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} holds a search already: go on with it by --resume, or name another folder",
                  folder);
    }
    return fail_errno(errno, "cannot make " + path);
  }
  if (Status written = io::write_all(journal.file_.get(), line_of(head_json(head))); !written) {
    return forward_error(written);
  }
  if (::fsync(journal.file_.get()) != 0) return fail_errno(errno, "cannot write " + path);
  return journal;
}

Result<Journal> Journal::open(const std::string& folder) {
  const std::string path = path_in(folder);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::kNotFound, "{} holds no journal of `unstarve tune`", folder);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Journal journal;
  std::size_t whole = 0;  // bytes of lines that are whole
  for (std::size_t number = 1; whole < text.size(); ++number) {
    const std::size_t end = text.find('\n', whole);
    if (end == std::string::npos) break;
    const Json json = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(whole),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (number == 1) {
      auto head = head_from(json);
      if (!head) return fail(ErrorCode::kCorruptData, "{}: {}", path, head.error().message);
      journal.head_ = *std::move(head);
    } else {
      const bool named = json.is_object() && json.value("label", Json()).is_string();
      auto result = named ? result_from(json.value("result", Json()))
                          : Result<TrialResult>(fail(ErrorCode::kCorruptData, "it has no label"));
      const bool last = end + 1 == text.size();
      if (!result && last) break;  // torn, with a line's end in it
      if (!result) {
        return fail(ErrorCode::kCorruptData, "{}, line {}: {}", path, number,
                    result.error().message);
      }
      journal.results_[json["label"].get<std::string>()] = *std::move(result);
    }
    whole = end + 1;
  }
  if (whole == 0) return fail(ErrorCode::kCorruptData, "{} is empty", path);
  journal.file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!journal.file_) return fail_errno(errno, "cannot write " + path);
  if (whole < text.size() && ::ftruncate(journal.file_.get(), static_cast<off_t>(whole)) != 0) {
    return fail_errno(errno, "cannot cut " + path);
  }
  return journal;
}

const TrialResult* Journal::find(const std::string& label) const {
  const auto found = results_.find(label);
  return found != results_.end() ? &found->second : nullptr;
}

Status Journal::add(const std::string& label, const TrialResult& result) {
  const Json json = {{"label", label}, {"result", to_json(result)}};
  if (Status written = io::write_all(file_.get(), line_of(json)); !written) return written;
  if (::fsync(file_.get()) != 0) return fail_errno(errno, "cannot write the journal");
  results_[label] = result;
  return {};
}

}  // namespace unstarve::tune
