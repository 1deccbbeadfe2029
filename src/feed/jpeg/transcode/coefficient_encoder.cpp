#include "feed/jpeg/transcode/coefficient_encoder.h"

#include <algorithm>
#include <array>

#include "feed/jpeg/baseline/baseline_decoder.h"
#include "feed/jpeg/libjpeg/error_trap.h"
#include "feed/jpeg/libjpeg/scan_limit.h"
#include "feed/jpeg/payload/payload_writer.h"

namespace unstarve::feed {

struct CoefficientEncoder::Impl {
  explicit Impl(const EncodeLimits& given)
      : scan_limit(given.max_scans), limits(given), baseline(given.max_pixels) {}
  ~Impl() { jpeg_destroy_decompress(&codec); }

  jpeg_decompress_struct codec = {};
  JpegErrorTrap trap;
  JpegScanLimit scan_limit;
  EncodeLimits limits;
  jvirt_barray_ptr* arrays = nullptr;  // libjpeg's, of the image being encoded
  PayloadHead head;
  std::vector<std::byte> markers;  // as they stood in the JPEG
  PayloadWriter writer;
  BaselineDecoder baseline;

  Status renew_codec();
  tl::unexpected<Error> refused() const;
  Status read_header(std::span<const std::byte> jpeg);
  void keep_markers();
  Status read_components();
  bool is_complete() const;
  bool copy_row(int row);
};

CoefficientEncoder::CoefficientEncoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoefficientEncoder::CoefficientEncoder(CoefficientEncoder&&) noexcept = default;
CoefficientEncoder& CoefficientEncoder::operator=(CoefficientEncoder&&) noexcept = default;
CoefficientEncoder::~CoefficientEncoder() = default;

Result<CoefficientEncoder> CoefficientEncoder::create(const EncodeLimits& limits) {
  auto impl = std::make_unique<Impl>(limits);
  impl->codec.err = impl->trap.manager();
  if (Status status = impl->renew_codec(); !status) return forward_error(status);
  return CoefficientEncoder(std::move(impl));
}

/// A new codec for each image: tables outlive an image in libjpeg, and a file without its own would
/// be encoded with those of the file before.
Status CoefficientEncoder::Impl::renew_codec() {
  jpeg_destroy_decompress(&codec);
  const bool created = trap.guarded([&] {
    jpeg_create_decompress(&codec);
    constexpr unsigned kWholeMarker = 0xFFFF;
    jpeg_save_markers(&codec, JPEG_COM, kWholeMarker);
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&codec, JPEG_APP0 + i, kWholeMarker);
  });
  if (!created) {
    return fail(ErrorCode::kOutOfMemory, "cannot set up libjpeg: {}", trap.message());
  }
  codec.progress = scan_limit.manager();
  return {};
}

tl::unexpected<Error> CoefficientEncoder::Impl::refused() const {
  if (codec.data_precision == 12) {
    return fail(ErrorCode::kNotSupported,
                "a JPEG with 12 bits per sample: only 8 bits can be decoded");
  }
  return fail(trap.code_or(ErrorCode::kNotSupported),
              "not a JPEG that can be stored as coefficients: {}", trap.message());
}

/// The markers before the first scan: those behind it do not change how the file is decoded, and
/// would if they came to stand before it.
void CoefficientEncoder::Impl::keep_markers() {
  markers.clear();
  for (jpeg_saved_marker_ptr marker = codec.marker_list; marker != nullptr; marker = marker->next) {
    const unsigned length = marker->data_length + 2;
    for (const unsigned byte : {0xFFU, unsigned{marker->marker}, length >> 8, length & 0xFFU}) {
      markers.push_back(static_cast<std::byte>(byte));
    }
    const auto* data = reinterpret_cast<const std::byte*>(marker->data);
    markers.insert(markers.end(), data, data + marker->data_length);
  }
}

Status CoefficientEncoder::Impl::read_header(std::span<const std::byte> jpeg) {
  const auto* start = reinterpret_cast<const unsigned char*>(jpeg.data());
  const bool read = trap.guarded([&] {
    jpeg_mem_src(&codec, start, static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&codec, TRUE);
  });
  if (!read) return refused();
  if (std::int64_t{codec.image_width} * codec.image_height > limits.max_pixels) {
    return fail(ErrorCode::kNotSupported,
                "{}x{} is more than {} pixels; raise max_pixels if it is meant", codec.image_width,
                codec.image_height, limits.max_pixels);
  }
  const J_COLOR_SPACE space = codec.jpeg_color_space;
  if (space != JCS_GRAYSCALE && space != JCS_RGB && space != JCS_YCbCr) {
    return fail(ErrorCode::kNotSupported,
                "a JPEG that is neither grey nor RGB nor YCbCr, with {} components",
                codec.num_components);
  }
  keep_markers();
  if (markers.size() > payload::kMaxMarkersSize) {
    return fail(ErrorCode::kNotSupported, "{} bytes of markers", markers.size());
  }
  return {};
}

/// Size, components and tables; only known for sure when all scans have been read.
Status CoefficientEncoder::Impl::read_components() {
  head.size = {static_cast<int>(codec.image_width), static_cast<int>(codec.image_height)};
  head.color = codec.jpeg_color_space == JCS_GRAYSCALE ? ColorForm::kGrey
               : codec.jpeg_color_space == JCS_RGB     ? ColorForm::kRgb
                                                       : ColorForm::kYcc;
  head.component_count = codec.num_components;
  head.table_count = 0;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& info = codec.comp_info[i];
    if (info.quant_table == nullptr) {
      return fail(ErrorCode::kNotSupported, "component {} of the JPEG has no scan", i);
    }
    std::array<std::uint16_t, kernels::kBlockCoefficients> table;
    std::copy_n(info.quant_table->quantval, table.size(), table.begin());
    const auto known = head.tables.begin() + head.table_count;
    const auto found = std::find(head.tables.begin(), known, table);
    if (found == known) {
      *found = table;
      ++head.table_count;
    }
    head.components[std::size_t(i)] = {info.component_id,
                                       info.h_samp_factor,
                                       info.v_samp_factor,
                                       static_cast<int>(found - head.tables.begin()),
                                       0,
                                       0};
  }
  payload::derive_geometry(head);
  return {};
}

/// A progressive file whose last scans are missing is smoothed by libjpeg's decoder; its
/// coefficients alone do not say so.
bool CoefficientEncoder::Impl::is_complete() const {
  if (codec.progressive_mode == 0 || codec.coef_bits == nullptr) return true;
  for (int component = 0; component < codec.num_components; ++component) {
    const int* bits = codec.coef_bits[component];
    if (std::any_of(bits, bits + DCTSIZE2, [](int left) { return left != 0; })) return false;
  }
  return true;
}

bool CoefficientEncoder::Impl::copy_row(int row) {
  return trap.guarded([&] {
    for (int i = 0; i < head.component_count; ++i) {
      const auto vertical = static_cast<JDIMENSION>(head.components[std::size_t(i)].vertical);
      JBLOCKARRAY blocks = (*codec.mem->access_virt_barray)(
          reinterpret_cast<j_common_ptr>(&codec), arrays[i],
          static_cast<JDIMENSION>(row) * vertical, vertical, FALSE);
      const CoefficientTarget& target = writer.targets()[std::size_t(i)];
      for (int v = 0; v < block_rows(head, i, row); ++v) {
        std::copy_n(&blocks[v][0][0], target.row_stride,
                    target.coefficients + v * target.row_stride);
      }
    }
  });
}

Status CoefficientEncoder::encode(std::span<const std::byte> jpeg,
                                  std::vector<std::byte>& payload) {
  Impl& impl = *impl_;
  if (jpeg.empty()) return fail(ErrorCode::kNotSupported, "the file is empty");
  // Ours reads the usual files in two thirds of the time; libjpeg judges all others.
  if (impl.baseline.open(jpeg) && impl.baseline.encode(payload)) return {};
  if (Status status = impl.renew_codec(); !status) return status;
  if (Status read = impl.read_header(jpeg); !read) return read;
  impl.arrays = nullptr;
  const bool decoded =
      impl.trap.guarded([&] { impl.arrays = jpeg_read_coefficients(&impl.codec); });
  if (!decoded || impl.arrays == nullptr) return impl.refused();
  if (!impl.is_complete()) {
    return fail(ErrorCode::kNotSupported, "a progressive JPEG without its last scans");
  }
  if (Status read = impl.read_components(); !read) return read;
  impl.writer.begin(impl.head, impl.markers, payload);
  for (int row = 0; row < impl.head.mcu_rows; ++row) {
    if (!impl.copy_row(row)) return impl.refused();
    if (Status packed = impl.writer.pack_row(impl.head, row, payload); !packed) return packed;
  }
  impl.writer.finish(impl.markers, payload);
  jpeg_abort_decompress(&impl.codec);
  return {};
}

}  // namespace unstarve::feed
