#include "emulated/duration/duration_table.h"

#include <algorithm>

#include "base/io/read.h"
#include "emulated/duration/kernel_name.h"

namespace unstarve::emulated {

namespace {

// A trace of some steps becomes a table of about a megabyte.
constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;

/// A product and its transpose are one: what is stored by rows is the transpose by columns.
DurationTable::Key key_of(const MatmulWork& work) {
  DurationTable::Key key{};
  key[0] = std::min(work.m, work.n);
  key[1] = std::max(work.m, work.n);
  key[2] = work.k;
  key[3] = work.batch;
  key[4] = static_cast<std::int64_t>(work.input);
  return key;
}

DurationTable::Key key_of(const ConvolutionWork& work) {
  DurationTable::Key key{};
  std::size_t at = 0;
  for (const std::int64_t value :
       {work.batch, work.input_channels, work.output_channels, work.groups,
        static_cast<std::int64_t>(work.type), static_cast<std::int64_t>(work.pass) + 1}) {
    key[at++] = value;
  }
  for (const auto& sizes : {work.input, work.filter, work.output, work.stride}) {
    for (const std::int64_t size : sizes) key[at++] = size;
  }
  return key;
}

struct Mean {
  double ns = 0;
  double count = 0;
};

/// The mean over the rows of one key, each by its count.
template <class Row>
void add_rows(const std::vector<Row>& rows, std::map<DurationTable::Key, double>& target) {
  std::map<DurationTable::Key, Mean> means;
  for (const Row& row : rows) {
    Mean& mean = means[key_of(row.work)];
    const double count = static_cast<double>(row.count);
    mean.ns += row.ns * count;
    mean.count += count;
  }
  for (const auto& [key, mean] : means) target[key] = mean.ns / mean.count;
}

std::optional<double> find_in(const std::map<DurationTable::Key, double>& rows,
                              const DurationTable::Key& key) {
  const auto found = rows.find(key);
  if (found == rows.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<double> RecordedKernel::find(const std::array<std::uint32_t, 3>& grid,
                                           const std::array<std::uint32_t, 3>& block) const {
  for (const Launch& launch : launches) {
    if (launch.grid == grid && launch.block == block) return launch.ns;
  }
  return std::nullopt;
}

std::shared_ptr<const DurationTable> DurationTable::create(Recording recording) {
  return std::shared_ptr<const DurationTable>(new DurationTable(std::move(recording)));
}

Result<std::shared_ptr<const DurationTable>> DurationTable::read(const std::string& path) {
  io::Files files;
  const Result<std::string> text = io::read_text(files, path, kFileBytesMax);
  if (!text) return forward_error(text);
  Result<Recording> recording = parse_recording(*text);
  if (!recording) return fail(recording.error().code, "{}: {}", path, recording.error().message);
  return create(*std::move(recording));
}

DurationTable::DurationTable(Recording recording) : recording_(std::move(recording)) {
  for (const RecordedKernel& kernel : recording_.kernels) kernels_.emplace(kernel.name, &kernel);
  add_rows(recording_.matmuls, matmuls_);
  add_rows(recording_.convolutions, convolutions_);
}

const RecordedKernel* DurationTable::find_kernel(std::string_view name) const {
  auto found = kernels_.find(name);
  if (found == kernels_.end()) found = kernels_.find(KernelName(name).text());
  return found == kernels_.end() ? nullptr : found->second;
}

std::optional<double> DurationTable::find(const MatmulWork& work) const {
  return find_in(matmuls_, key_of(work));
}

std::optional<double> DurationTable::find(const ConvolutionWork& work) const {
  return find_in(convolutions_, key_of(work));
}

}  // namespace unstarve::emulated
