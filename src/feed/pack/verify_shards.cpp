#include "feed/pack/verify_shards.h"

#include <atomic>
#include <vector>

#include "feed/pack/run_parallel.h"
#include "feed/shard/shard_set_writer.h"
#include "feed/shard/shard_source.h"
#include "feed/shard/shard_writer.h"

namespace unstarve::feed {
namespace {

class Verifier {
 public:
  using OnSample = std::function<void(std::uint64_t)>;

  Verifier(const VerifyTask& task, const PackInput& input, const OnSample& on_sample)
      : task_(task), input_(input), on_sample_(on_sample) {}

  Status check_shard(const WorkItem& item) {
    const std::string path = shard_path(task_.folder, static_cast<std::uint32_t>(item.index));
    const Result<FileDescriptor> file = open_to_read(*task_.storage, path);
    if (!file) return forward_error(file);
    task_.storage->drop_cached(file->get());
    const Result<ShardHeader> header = read_shard_header(*task_.storage, file->get());
    if (!header) return error_in(path, header.error());
    const auto source = ShardSource::open(path, task_.storage);
    if (!source) return forward_error(source);
    if (Status status = (*source)->table().verify(); !status) {
      return error_in(path, status.error());
    }
    std::vector<std::byte> buffer;
    for (std::uint64_t at = 0; at < (*source)->size() && !item.failed; ++at) {
      if (Status status = check_sample(**source, at, header->first_sample + at, buffer); !status) {
        return error_in((*source)->locate(at), status.error());
      }
      const std::uint64_t checked = ++checked_;
      if (item.on_calling_thread) on_sample_(checked);
    }
    return {};
  }

  std::uint64_t checked() const { return checked_; }

 private:
  Status check_sample(ShardSource& source, std::uint64_t at, std::uint64_t index,
                      std::vector<std::byte>& buffer) const {
    const Result<RecordView> record = source.read_whole(at, buffer);
    if (!record) return forward_error(record);
    if (record->header.index != index || index >= input_.size() ||
        record->name != input_.name(index) || record->header.label != input_.label(index)) {
      return fail(ErrorCode::kCorruptData, "this is not sample {} of the source", index);
    }
    return {};
  }

  const VerifyTask& task_;
  const PackInput& input_;
  const OnSample& on_sample_;
  std::atomic<std::uint64_t> checked_{0};
};

}  // namespace

Status verify_shards(const VerifyTask& task, const PackInput& input,
                     const std::function<void(std::uint64_t)>& on_sample) {
  Verifier verifier(task, input, on_sample);
  const auto make_work = [&verifier] {
    return [&verifier](const WorkItem& item) { return verifier.check_shard(item); };
  };
  if (Status status = run_parallel(task.shards, task.threads, make_work); !status) return status;
  if (verifier.checked() == input.size()) return {};
  return fail(ErrorCode::kCorruptData, "{} holds {} samples, {} were packed", task.folder,
              verifier.checked(), input.size());
}

}  // namespace unstarve::feed
