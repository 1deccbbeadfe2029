#include "feed/jpeg/transcode/restore_jpeg.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "feed/jpeg/libjpeg/error_trap.h"
#include "feed/jpeg/payload/payload_layout.h"

namespace unstarve::feed {
namespace {

/// One scan with all components may have at most 10 blocks in an MCU; a JPEG whose sampling makes
/// for more has one scan for each component.
constexpr std::array<jpeg_scan_info, kernels::kMaxComponents> kSeparateScans = {{
    {1, {0, 0, 0, 0}, 0, DCTSIZE2 - 1, 0, 0},
    {1, {1, 0, 0, 0}, 0, DCTSIZE2 - 1, 0, 0},
    {1, {2, 0, 0, 0}, 0, DCTSIZE2 - 1, 0, 0},
}};

/// libjpeg's compressor while it writes one file.
struct Restorer {
  Restorer() = default;
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;
  ~Restorer() {
    if (created) jpeg_destroy_compress(&codec);
    std::free(bytes);
  }

  jpeg_compress_struct codec = {};
  JpegErrorTrap trap;
  bool created = false;
  unsigned char* bytes = nullptr;  // libjpeg's, by malloc
  unsigned long size = 0;
  std::array<jvirt_barray_ptr, kernels::kMaxComponents> arrays = {};

  void describe_image(const PayloadHead& head);
  void request_arrays(const PayloadHead& head);
  void write_markers(std::span<const std::byte> markers);
  bool store_row(const PayloadHead& head, int row, std::span<const CoefficientTarget> targets);
};

void Restorer::describe_image(const PayloadHead& head) {
  codec.image_width = static_cast<JDIMENSION>(head.size.width);
  codec.image_height = static_cast<JDIMENSION>(head.size.height);
  codec.input_components = head.component_count;
  codec.in_color_space = head.component_count == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_colorspace(&codec, head.color == ColorForm::kGrey  ? JCS_GRAYSCALE
                              : head.color == ColorForm::kRgb ? JCS_RGB
                                                              : JCS_YCbCr);
  // The markers that say what the components mean are among those that were kept.
  codec.write_JFIF_header = FALSE;
  codec.write_Adobe_marker = FALSE;
  codec.optimize_coding = TRUE;
  int mcu_blocks = 0;
  for (int i = 0; i < head.component_count; ++i) {
    const PayloadComponent& component = head.components[std::size_t(i)];
    mcu_blocks += component.horizontal * component.vertical;
    jpeg_component_info& info = codec.comp_info[i];
    info.component_id = component.id;
    info.h_samp_factor = component.horizontal;
    info.v_samp_factor = component.vertical;
    info.quant_tbl_no = component.table;
  }
  if (head.component_count > 1 && mcu_blocks > C_MAX_BLOCKS_IN_MCU) {
    codec.scan_info = kSeparateScans.data();
    codec.num_scans = static_cast<int>(kSeparateScans.size());
  }
  for (int i = 0; i < head.table_count; ++i) {
    if (codec.quant_tbl_ptrs[i] == nullptr) {
      codec.quant_tbl_ptrs[i] = jpeg_alloc_quant_table(reinterpret_cast<j_common_ptr>(&codec));
    }
    const auto& table = head.tables[std::size_t(i)];
    std::copy(table.begin(), table.end(), codec.quant_tbl_ptrs[i]->quantval);
    codec.quant_tbl_ptrs[i]->sent_table = FALSE;
  }
}

/// Arrays as large as libjpeg's own: whole MCUs.
void Restorer::request_arrays(const PayloadHead& head) {
  const int mcus_across = (head.size.width + head.mcu_width - 1) / head.mcu_width;
  for (int i = 0; i < head.component_count; ++i) {
    const PayloadComponent& component = head.components[std::size_t(i)];
    arrays[std::size_t(i)] = (*codec.mem->request_virt_barray)(
        reinterpret_cast<j_common_ptr>(&codec), JPOOL_IMAGE, TRUE,
        static_cast<JDIMENSION>(mcus_across * component.horizontal),
        static_cast<JDIMENSION>(head.mcu_rows * component.vertical),
        static_cast<JDIMENSION>(component.vertical));
  }
}

void Restorer::write_markers(std::span<const std::byte> markers) {
  const auto byte_at = [&](std::size_t i) { return std::to_integer<unsigned>(markers[i]); };
  while (!markers.empty()) {
    const unsigned length = byte_at(2) << 8 | byte_at(3);
    jpeg_write_marker(&codec, static_cast<int>(byte_at(1)),
                      reinterpret_cast<const JOCTET*>(markers.data() + 4), length - 2);
    markers = markers.subspan(2 + length);
  }
}

bool Restorer::store_row(const PayloadHead& head, int row,
                         std::span<const CoefficientTarget> targets) {
  return trap.guarded([&] {
    for (int i = 0; i < head.component_count; ++i) {
      const auto vertical = static_cast<JDIMENSION>(head.components[std::size_t(i)].vertical);
      JBLOCKARRAY blocks = (*codec.mem->access_virt_barray)(
          reinterpret_cast<j_common_ptr>(&codec), arrays[std::size_t(i)],
          static_cast<JDIMENSION>(row) * vertical, vertical, TRUE);
      const CoefficientTarget& target = targets[std::size_t(i)];
      for (int v = 0; v < block_rows(head, i, row); ++v) {
        std::copy_n(target.coefficients + v * target.row_stride, target.row_stride,
                    &blocks[v][0][0]);
      }
    }
  });
}

/// Every marker an APPn or COM with its length inside the bytes.
bool are_markers(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (bytes.size() < 4 || bytes[0] != std::byte{0xFF}) return false;
    const auto marker = std::to_integer<int>(bytes[1]);
    if (marker != JPEG_COM && (marker < JPEG_APP0 || marker > JPEG_APP0 + 15)) return false;
    const auto length =
        std::to_integer<std::size_t>(bytes[2]) << 8 | std::to_integer<std::size_t>(bytes[3]);
    if (length < 2 || bytes.size() < 2 + length) return false;
    bytes = bytes.subspan(2 + length);
  }
  return true;
}

/// Everything about the payload that can be checked before coefficients are unpacked.
Status check_payload(std::span<const std::byte> payload, std::int64_t max_pixels,
                     PayloadHead& head) {
  if (Status parsed = parse_head(payload, head); !parsed) return parsed;
  if (std::int64_t{head.size.width} * head.size.height > max_pixels) {
    return fail(ErrorCode::kCorruptData,
                "coefficients of {}x{}, more than {} pixels: larger images are packed as their "
                "files, so do not trust these shards",
                head.size.width, head.size.height, max_pixels);
  }
  if (payload_size(head) > payload.size()) {
    return fail(ErrorCode::kCorruptData, "the coefficient payload ends early: {} of {} bytes",
                payload.size(), payload_size(head));
  }
  const PayloadRange range = markers_range(head);
  const auto markers = payload.subspan(static_cast<std::size_t>(range.offset), range.size);
  if (payload::checksum(markers) != head.markers_checksum || !are_markers(markers)) {
    return fail(ErrorCode::kCorruptData, "the markers of a coefficient payload are broken");
  }
  return {};
}

/// Memory for one MCU row of all components.
struct RowBuffer {
  explicit RowBuffer(const PayloadHead& head) {
    for (int i = 0; i < head.component_count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const PayloadComponent& component = head.components[index];
      const auto stride = std::ptrdiff_t{component.columns} * kernels::kBlockCoefficients;
      planes[index].resize(static_cast<std::size_t>(stride * component.vertical));
      targets[index] = {planes[index].data(), stride};
    }
  }
  std::array<std::vector<std::int16_t>, kernels::kMaxComponents> planes;
  std::array<CoefficientTarget, kernels::kMaxComponents> targets;
};

}  // namespace

Status restore_jpeg(std::span<const std::byte> payload, std::vector<std::byte>& jpeg,
                    std::int64_t max_pixels) {
  PayloadHead head;
  if (Status checked = check_payload(payload, max_pixels, head); !checked) return checked;
  const PayloadRange markers = markers_range(head);
  Restorer restorer;
  jpeg_compress_struct& codec = restorer.codec;
  const auto failed = [&] {
    return fail(restorer.trap.code_or(ErrorCode::kCorruptData), "the coefficients make no JPEG: {}",
                restorer.trap.message());
  };
  codec.err = restorer.trap.manager();
  if (!restorer.trap.guarded([&] { jpeg_create_compress(&codec); })) return failed();
  restorer.created = true;
  const bool started = restorer.trap.guarded([&] {
    jpeg_mem_dest(&codec, &restorer.bytes, &restorer.size);
    restorer.describe_image(head);
    restorer.request_arrays(head);
    jpeg_write_coefficients(&codec, restorer.arrays.data());
    restorer.write_markers(payload.subspan(static_cast<std::size_t>(markers.offset), markers.size));
  });
  if (!started) return failed();
  const RowBuffer buffer(head);
  for (int row = 0; row < head.mcu_rows; ++row) {
    const PayloadRange range = rows_range(head, row, 1);
    const auto bytes = payload.subspan(static_cast<std::size_t>(range.offset), range.size);
    if (Status sound = check_rows(head, row, 1, bytes); !sound) return sound;
    const Status unpacked = unpack_segments(head, {row, 0, head.segments_across},
                                            row_of(head, row, row, bytes), buffer.targets);
    if (!unpacked) return unpacked;
    if (!restorer.store_row(head, row, buffer.targets)) return failed();
  }
  if (!restorer.trap.guarded([&] { jpeg_finish_compress(&codec); })) return failed();
  const auto* first = reinterpret_cast<const std::byte*>(restorer.bytes);
  jpeg.assign(first, first + restorer.size);
  return {};
}

}  // namespace unstarve::feed
