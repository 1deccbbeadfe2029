#include "feed/pipeline/loader.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <utility>

#include "binding/arrow_images.h"
#include "binding/errors.h"
#include "binding/file_list.h"
#include "binding/host_memory.h"
#include "binding/released.h"
#include "feed/transform/draw_geometry.h"
#include "feed/transform/sample_transform.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

using feed::HostBatch;
using feed::Loader;
using feed::LoaderOptions;

// How long a wait may keep Ctrl-C from being seen.
constexpr std::chrono::milliseconds kSignalInterval(50);

using ImageArray = nb::ndarray<nb::array_api, nb::device::cpu>;
using LabelArray = nb::ndarray<nb::array_api, std::int64_t, nb::device::cpu, nb::c_contig>;

nb::dlpack::dtype dtype_of(feed::OutputPlan::Type type) {
  switch (type) {
    case feed::OutputPlan::Type::kUint8: return nb::dtype<std::uint8_t>();
    case feed::OutputPlan::Type::kFloat32: return nb::dtype<float>();
    case feed::OutputPlan::Type::kFloat16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case feed::OutputPlan::Type::kBfloat16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
  }
  return nb::dtype<std::uint8_t>();
}

/// The batch's images as they lie in memory, NHWC or NCHW.
ImageArray images_of(const HostBatch& batch, nb::handle owner) {
  const feed::BatchShape& shape = batch.shape();
  const auto count = static_cast<std::size_t>(batch.count);
  const auto height = static_cast<std::size_t>(shape.height);
  const auto width = static_cast<std::size_t>(shape.width);
  const nb::dlpack::dtype dtype = dtype_of(shape.type);
  if (shape.layout == feed::OutputPlan::Layout::kNchw) {
    return ImageArray(batch.image(0), {count, 3, height, width}, owner, {}, dtype);
  }
  return ImageArray(batch.image(0), {count, height, width, 3}, owner, {}, dtype);
}

/// The batch's images and labels as arrays on the slot's own memory. The slot goes back to the
/// loader when the last array on it is gone.
nb::object share(HostBatch&& batch) {
  auto owned = std::make_unique<HostBatch>(std::move(batch));
  HostBatch* slot = owned.get();
  const nb::capsule owner(owned.release(), [](void* pointer) noexcept {
    const std::unique_ptr<HostBatch> last(static_cast<HostBatch*>(pointer));
  });
  const auto count = static_cast<std::size_t>(slot->count);
  const LabelArray labels(slot->labels(), {count}, owner);
  return nb::make_tuple(images_of(*slot, owner), labels);
}

/// A loader that ends without the GIL: its threads finish the samples that they are at, and copies
/// are written, while other Python threads run.
class PythonLoader {
 public:
  explicit PythonLoader(std::unique_ptr<Loader> loader) : loader_(std::move(loader)) {}
  ~PythonLoader() {
    const Released released;
    loader_.reset();
  }
  PythonLoader(const PythonLoader&) = delete;
  PythonLoader& operator=(const PythonLoader&) = delete;

  Loader* operator->() const { return loader_.get(); }

 private:
  std::unique_ptr<Loader> loader_;
};

/// In a forked child, locks that a loading thread held stay held: what takes them asks this first.
void check_process(const PythonLoader& loader) {
  if (Status status = loader->check_process(); !status) raise(status.error());
}

/// For nanobind: a function without arguments of the loader within.
template <auto function>
auto method(const PythonLoader& loader) {
  return (loader.operator->()->*function)();
}

/// The next batch if it is ready, None at the end of the epoch, False where the caller would wait.
nb::object batch_if_ready(PythonLoader& loader) {
  Result<feed::NextBatch> next = loader->next(std::chrono::nanoseconds(0));
  if (!next) raise(next.error());
  if (next->state == feed::NextState::kEnd) return nb::none();
  if (next->state == feed::NextState::kTimeout) return nb::bool_(false);
  return share(std::move(*next->batch));
}

/// Waits without the GIL, looking for Ctrl-C; None at the end of the epoch. TimeoutError after
/// `timeout_s` seconds, unless that is 0.
nb::object next_batch(PythonLoader& loader, double timeout_s) {
  using SteadyTime = std::chrono::steady_clock;
  const auto begun = SteadyTime::now();
  for (;;) {
    Result<feed::NextBatch> next = [&loader] {
      const Released released;
      return loader->next(kSignalInterval);
    }();
    if (!next) raise(next.error());
    if (next->state == feed::NextState::kEnd) return nb::none();
    if (next->state == feed::NextState::kBatch) return share(std::move(*next->batch));
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (timeout_s > 0 && SteadyTime::now() - begun >= std::chrono::duration<double>(timeout_s)) {
      PyErr_SetString(PyExc_TimeoutError, "no batch came in time");
      throw nb::python_error();
    }
  }
}

// A batch whose copy runs, the one before whose end is not seen yet, one in the consumer's hands,
// and one more where the device lags: pinning is slow, so that these slots are not given up.
constexpr int kSlotsOfCopies = 4;

/// What a loader stands on, with its batches in `memory` unless that is nullptr.
feed::LoaderParts parts_with(const HostMemory* memory) {
  feed::LoaderParts parts = feed::LoaderParts::real();
  if (memory == nullptr) return parts;
  parts.memory = memory->memory;
  parts.consumer_slots = kSlotsOfCopies;
  return parts;
}

std::unique_ptr<PythonLoader> open_loader(const LoaderOptions& options, const HostMemory* memory) {
  Result<std::unique_ptr<Loader>> loader = [&] {
    const Released released;
    return Loader::open(options, parts_with(memory));
  }();
  return std::make_unique<PythonLoader>(value_or_raise(std::move(loader)));
}

std::unique_ptr<PythonLoader> open_with(const LoaderOptions& options,
                                        std::shared_ptr<feed::SampleSource> source,
                                        const HostMemory* memory) {
  Result<std::unique_ptr<Loader>> loader = [&] {
    const Released released;
    return Loader::open(options, std::move(source), parts_with(memory));
  }();
  return std::make_unique<PythonLoader>(value_or_raise(std::move(loader)));
}

/// A loader of files that the caller has listed.
std::unique_ptr<PythonLoader> open_list(const LoaderOptions& options, const FileList& files,
                                        const HostMemory* memory) {
  return open_with(options, files.source(), memory);
}

/// A loader of a table's images. `only_rgb`: images of other colours are errors of their rows.
std::unique_ptr<PythonLoader> open_arrow(const LoaderOptions& options, const ArrowImages& images,
                                         const HostMemory* memory, bool only_rgb) {
  return open_with(options, value_or_raise(images.source(only_rgb)), memory);
}

/// Without the GIL: its threads finish the samples that they are at.
void rest(PythonLoader& loader) {
  const Released released;
  loader->rest();
}

void begin_epoch(PythonLoader& loader, std::uint32_t epoch) {
  const Status status = [&] {
    const Released released;
    return loader->begin_epoch(epoch);
  }();
  if (!status) raise(status.error());
}

void begin_submitted_epoch(PythonLoader& loader, std::uint32_t epoch) {
  const Status status = [&] {
    const Released released;
    return loader->begin_submitted_epoch(epoch);
  }();
  if (!status) raise(status.error());
}

using IndexList = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void submit_batch(PythonLoader& loader, const IndexList& indices) {
  const Status status = loader->submit_batch({indices.data(), indices.size()});
  if (!status) raise(status.error());
}

/// A resumed epoch may skip millions.
void skip_batch(PythonLoader& loader, const IndexList& indices) {
  const std::span<const std::uint64_t> skipped(indices.data(), indices.size());
  const Status status = [&] {
    const Released released;
    return loader->skip_batch(skipped);
  }();
  if (!status) raise(status.error());
}

void finish_submitting(PythonLoader& loader) {
  if (Status status = loader->finish_submitting(); !status) raise(status.error());
}

/// (batch, row, whether the sample would fail at any time) of each row that the consumer must fill.
nb::list take_failed(PythonLoader& loader) {
  check_process(loader);
  nb::list rows;
  for (const feed::FailedRow& failed : loader->take_failed()) {
    rows.append(nb::make_tuple(failed.batch, failed.row, feed::is_of_the_sample(failed.code)));
  }
  return rows;
}

void add_cache_stats(const feed::CacheStats& stats, nb::dict& result) {
  result["cache_hits"] = stats.hits;
  result["cache_kept"] = stats.kept;
  result["cache_dropped"] = stats.dropped;
  result["cache_refused"] = stats.refused;
  result["cache_damaged"] = stats.damaged;
  result["cache_bytes"] = stats.bytes;
}

nb::dict stats(const PythonLoader& loader) {
  check_process(loader);
  const feed::LoaderStats stats = loader->stats();
  nb::dict result;
  result["images"] = stats.images;
  result["batches"] = stats.batches;
  result["bytes_read"] = stats.bytes_read;
  result["read_ns"] = stats.read_ns;
  result["decode_ns"] = stats.decode_ns;
  result["resize_ns"] = stats.resize_ns;
  result["load_ns"] = stats.load_ns;
  result["load_cpu_ns"] = stats.load_cpu_ns;
  result["threads_wait_ns"] = stats.threads_wait_ns;
  result["consumer_wait_ns"] = stats.consumer_wait_ns;
  result["failed"] = stats.failed;
  result["replaced"] = stats.replaced;
  result["left_out"] = stats.left_out;
  result["hints"] = stats.hints;
  result["slots_allocated"] = stats.slots_allocated;
  result["threads"] = stats.threads;
  add_cache_stats(loader->cache_stats(), result);
  return result;
}

nb::list failures(const PythonLoader& loader) {
  check_process(loader);
  nb::list result;
  for (const feed::SampleFailure& failure : loader->failures()) {
    result.append(nb::make_tuple(failure.index, failure.epoch, failure.message));
  }
  return result;
}

std::string state_of(const PythonLoader& loader) {
  check_process(loader);
  return feed::to_json(loader->state());
}

void restore(PythonLoader& loader, const std::string& json) {
  const Status status = [&]() -> Status {
    const Released released;
    const Result<feed::LoaderState> state = feed::parse_loader_state(json);
    if (!state) return forward_error(state);
    return loader->restore(*state);
  }();
  if (!status) raise(status.error());
}

/// One line for each thing that is left out of the data set or that the controller changed, with
/// its reason, and what the cache did.
nb::list explain(const PythonLoader& loader) {
  check_process(loader);
  nb::list lines;
  for (const std::string& line : loader->left_out()) lines.append(nb::str(line.c_str()));
  for (const feed::ControlMove& move : loader->explain()) lines.append(feed::describe(move));
  for (const std::string& line : feed::describe(loader->cache_stats())) {
    lines.append(nb::str(line.c_str()));
  }
  return lines;
}

void check_drawing(const LoaderOptions& options, std::pair<int, int> size) {
  if (Status status = feed::validate(options); !status) raise(status.error());
  if (size.first <= 0 || size.second <= 0) {
    raise({ErrorCode::kInvalidArgument, "width and height must be above zero", 0});
  }
  if (!feed::fits(options.transform.geometry, {size.first, size.second})) {
    raise({ErrorCode::kInvalidArgument, "the image is smaller than its crop", 0});
  }
}

/// The crop box and flip of one sample in one epoch, for an image of this size.
nb::tuple sample_geometry(const LoaderOptions& options, std::uint32_t epoch, std::uint32_t index,
                          std::pair<int, int> size) {
  check_drawing(options, size);
  feed::SampleRandom random({options.seed, epoch, index, 0});
  const feed::SampleGeometry geometry =
      feed::draw_geometry(options.transform.geometry, {size.first, size.second}, random);
  const feed::Box& crop = geometry.crop;
  return nb::make_tuple(crop.x, crop.y, crop.width, crop.height, geometry.flip);
}

std::string name_of(kernels::ColourOp op) {
  switch (op) {
    case kernels::ColourOp::kBrightness: return "brightness";
    case kernels::ColourOp::kContrast: return "contrast";
    case kernels::ColourOp::kSaturation: return "saturation";
    case kernels::ColourOp::kHue: return "hue";
    case kernels::ColourOp::kGreyscale: return "greyscale";
  }
  return "";
}

std::string name_of(kernels::ToneOp op) {
  switch (op) {
    case kernels::ToneOp::kPosterize: return "posterize";
    case kernels::ToneOp::kSolarize: return "solarize";
    case kernels::ToneOp::kAutoContrast: return "autocontrast";
    case kernels::ToneOp::kEqualize: return "equalize";
    case kernels::ToneOp::kInvert: return "invert";
    case kernels::ToneOp::kSolarizeAdd: return "solarize_add";
  }
  return "";
}

/// How far places are moved across and down, in pixels: two times the bytes of an output's float32.
nb::tuple displacement_drawn(const feed::PixelDraw& draw, const feed::ImageSize& size) {
  kernels::Displacement drawn;
  kernels::draw_displacement(draw.elastic, draw.seed, size.width, size.height, drawn);
  const auto bytes = [](const std::vector<float>& plane) {
    return nb::bytes(reinterpret_cast<const char*>(plane.data()), plane.size() * sizeof(float));
  };
  return nb::make_tuple("elastic", nb::make_tuple(bytes(drawn.across), bytes(drawn.down)));
}

/// A name and a number, or the six or eight of where pixels come from.
nb::tuple pixels_drawn(const feed::PixelDraw& draw, const feed::ImageSize& size) {
  using Kind = feed::PixelDraw::Kind;
  if (draw.kind == Kind::kElastic) return displacement_drawn(draw, size);
  if (draw.kind == Kind::kPlaces) {
    const kernels::AffineMap& map = draw.places;
    return nb::make_tuple("places", nb::make_tuple(map.a, map.b, map.c, map.d, map.e, map.f));
  }
  if (draw.kind == Kind::kPerspective) {
    const kernels::PerspectiveMap& map = draw.perspective;
    return nb::make_tuple("perspective",
                          nb::make_tuple(map.a, map.b, map.c, map.d, map.e, map.f, map.g, map.h));
  }
  if (draw.kind == Kind::kBlur) return nb::make_tuple("blur", draw.blur.sigma);
  if (draw.kind == Kind::kMixBegin) return nb::make_tuple("mix_begin", draw.factor);
  if (draw.kind == Kind::kMixAdd) return nb::make_tuple("mix_add", draw.factor);
  if (draw.kind == Kind::kMixEnd) return nb::make_tuple("mix_end", draw.factor);
  if (draw.kind == Kind::kJpeg) return nb::make_tuple("jpeg", draw.quality);
  std::string name = draw.kind == Kind::kColour ? name_of(draw.colour) : name_of(draw.tone);
  if (draw.kind == Kind::kSharpness) name = "sharpness";
  return nb::make_tuple(name, draw.factor);
}

/// Everything that is drawn for one sample in one epoch, for an image of this size.
nb::dict sample_draws(const LoaderOptions& options, std::uint32_t epoch, std::uint32_t index,
                      std::pair<int, int> size) {
  check_drawing(options, size);
  feed::SampleRandom random({options.seed, epoch, index, 0});
  feed::SampleDraw draw;
  feed::draw_sample(options.transform, {size.first, size.second}, random, draw);
  const auto box = [](const feed::Box& b) { return nb::make_tuple(b.x, b.y, b.width, b.height); };
  nb::list colour;
  for (const feed::PixelDraw& change : draw.pixels) {
    colour.append(pixels_drawn(change, options.transform.geometry.size));
  }
  nb::dict result;
  result["crop"] = box(draw.geometry.crop);
  result["target"] = nb::make_tuple(draw.geometry.target.width, draw.geometry.target.height);
  result["window"] = box(draw.geometry.window);
  const bool bicubic = draw.geometry.interpolation == feed::Interpolation::kBicubic;
  result["interpolation"] = bicubic ? "bicubic" : "bilinear";
  result["flip"] = draw.geometry.flip;
  result["vertical_flip"] = draw.geometry.vertical_flip;
  result["colour"] = colour;
  result["erased"] = draw.erased ? nb::object(box(*draw.erased)) : nb::none();
  return result;
}

void bind_options(nb::module_& module) {
  nb::enum_<feed::OnError>(module, "OnError")
      .value("raise_", feed::OnError::kRaise)
      .value("skip", feed::OnError::kSkip)
      .value("replace", feed::OnError::kReplace)
      .value("report", feed::OnError::kReport);
  nb::enum_<feed::RankRemainder>(module, "RankRemainder")
      .value("pad", feed::RankRemainder::kPad)
      .value("drop", feed::RankRemainder::kDrop);
  nb::class_<LoaderOptions>(module, "LoaderOptions")
      .def(nb::init<>())
      .def_rw("root", &LoaderOptions::root)
      .def_rw("skip_other_formats", &LoaderOptions::skip_other_formats)
      .def_rw("transform", &LoaderOptions::transform)
      .def_rw("seed", &LoaderOptions::seed)
      .def_rw("shuffle", &LoaderOptions::shuffle)
      .def_rw("batch_size", &LoaderOptions::batch_size)
      .def_rw("drop_last", &LoaderOptions::drop_last)
      .def_rw("rank", &LoaderOptions::rank)
      .def_rw("world_size", &LoaderOptions::world_size)
      .def_rw("rank_remainder", &LoaderOptions::rank_remainder)
      .def_rw("prefetch_next_epoch", &LoaderOptions::prefetch_next_epoch)
      .def_rw("on_error", &LoaderOptions::on_error)
      .def_rw("accept_damaged", &LoaderOptions::accept_damaged)
      .def_rw("max_pixels", &LoaderOptions::max_pixels)
      .def_rw("max_file_bytes", &LoaderOptions::max_file_bytes)
      .def_rw("threads", &LoaderOptions::threads)
      .def_rw("max_threads", &LoaderOptions::max_threads)
      .def_rw("prefetch_batches", &LoaderOptions::prefetch_batches)
      .def_rw("memory_bytes", &LoaderOptions::memory_bytes)
      .def_rw("cache_dir", &LoaderOptions::cache_dir)
      .def_rw("cache_bytes", &LoaderOptions::cache_bytes);
}

}  // namespace

void bind_loader(nb::module_& module) {
  bind_options(module);
  module.def("sample_geometry", &sample_geometry, nb::arg("options"), nb::arg("epoch"),
             nb::arg("index"), nb::arg("size"));
  module.def("open_list", &open_list, nb::arg("options"), nb::arg("files"),
             nb::arg("memory") = nb::none());
  module.def("open_arrow", &open_arrow, nb::arg("options"), nb::arg("images"),
             nb::arg("memory") = nb::none(), nb::arg("only_rgb") = false);
  module.def("sample_draws", &sample_draws, nb::arg("options"), nb::arg("epoch"), nb::arg("index"),
             nb::arg("size"));
  nb::class_<PythonLoader>(module, "Loader")
      .def(nb::new_(&open_loader), nb::arg("options"), nb::arg("memory") = nb::none())
      .def("begin_epoch", &begin_epoch, nb::arg("epoch"), nb::lock_self())
      .def("begin_submitted_epoch", &begin_submitted_epoch, nb::arg("epoch"), nb::lock_self())
      .def("submit_batch", &submit_batch, nb::arg("indices"), nb::lock_self())
      .def("skip_batch", &skip_batch, nb::arg("indices"), nb::lock_self())
      .def("finish_submitting", &finish_submitting, nb::lock_self())
      .def("wanted_batches", method<&Loader::wanted_batches>)
      .def("next", &next_batch, nb::arg("timeout_s") = 0.0, nb::lock_self())
      .def("take_failed", &take_failed)
      .def("next_if_ready", &batch_if_ready, nb::lock_self())
      .def("rest", &rest)
      .def(
          "set_reads_ahead",
          [](PythonLoader& loader, bool ahead) { loader->set_reads_ahead(ahead); },
          nb::arg("reads_ahead"))
      .def("stats", &stats)
      .def("failures", &failures)
      .def("state", &state_of)
      .def("restore", &restore, nb::arg("state"), nb::lock_self())
      .def("explain", &explain)
      .def_prop_ro("classes", method<&Loader::classes>)
      .def_prop_ro("sample_count", method<&Loader::sample_count>)
      .def_prop_ro("batch_count", method<&Loader::batch_count>)
      .def_prop_ro("thread_count", method<&Loader::thread_count>)
      .def_prop_ro("ready_batches",
                   [](const PythonLoader& loader) { return loader->stats().ready_batches; });
}

}  // namespace unstarve::binding
