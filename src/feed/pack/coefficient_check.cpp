#include "feed/pack/coefficient_check.h"

#include <algorithm>
#include <array>
#include <vector>

#include "feed/jpeg/libjpeg/error_trap.h"
#include "feed/jpeg/payload/payload.h"
#include "kernels/segment/segment.h"

namespace unstarve::feed {
namespace {

tl::unexpected<Error> differs(std::string_view part) {
  return fail(ErrorCode::kCorruptData, "the packed {} differ from the file's", part);
}

}  // namespace

struct CoefficientCheck::Impl {
  ~Impl() { jpeg_destroy_decompress(&codec); }

  jpeg_decompress_struct codec = {};
  JpegErrorTrap trap;
  jvirt_barray_ptr* arrays = nullptr;  // libjpeg's, of the image at hand
  PayloadHead head;
  std::array<std::vector<std::int16_t>, kernels::kMaxComponents> row;
  std::array<CoefficientTarget, kernels::kMaxComponents> targets;

  bool read(std::span<const std::byte> jpeg);
  bool same_size() const;
  bool same_frame() const;
  bool same_table(int component) const;
  Status unpack_row(int mcu_row, std::span<const std::byte> payload);
  bool same_row(int mcu_row, bool& same);
  tl::unexpected<Error> unreadable() const {
    return fail(trap.code_or(ErrorCode::kCorruptData), "libjpeg cannot read it: {}",
                trap.message());
  }
};

CoefficientCheck::CoefficientCheck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoefficientCheck::CoefficientCheck(CoefficientCheck&&) noexcept = default;
CoefficientCheck& CoefficientCheck::operator=(CoefficientCheck&&) noexcept = default;
CoefficientCheck::~CoefficientCheck() = default;

Result<CoefficientCheck> CoefficientCheck::create() {
  auto impl = std::make_unique<Impl>();
  impl->codec.err = impl->trap.manager();
  return CoefficientCheck(std::move(impl));
}

bool CoefficientCheck::Impl::read(std::span<const std::byte> jpeg) {
  // A new codec for each image: see CoefficientEncoder.
  jpeg_destroy_decompress(&codec);
  const auto* start = reinterpret_cast<const unsigned char*>(jpeg.data());
  return trap.guarded([&] {
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, start, static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&codec, TRUE);
    // libjpeg would keep the coefficients of whatever size the file names.
    if (same_size()) arrays = jpeg_read_coefficients(&codec);
  });
}

bool CoefficientCheck::Impl::same_table(int component) const {
  const jpeg_component_info& info = codec.comp_info[component];
  const PayloadComponent& packed = head.components[std::size_t(component)];
  const auto& table = head.tables[std::size_t(packed.table)];
  // A component that is alone is not interleaved: whatever its factors are, they mean nothing.
  const bool same_sampling =
      codec.num_components == 1 ||
      (info.h_samp_factor == packed.horizontal && info.v_samp_factor == packed.vertical);
  return info.quant_table != nullptr && info.component_id == packed.id && same_sampling &&
         static_cast<int>(info.width_in_blocks) == packed.columns &&
         static_cast<int>(info.height_in_blocks) == packed.rows &&
         std::equal(table.begin(), table.end(), info.quant_table->quantval);
}

bool CoefficientCheck::Impl::same_size() const {
  return static_cast<int>(codec.image_width) == head.size.width &&
         static_cast<int>(codec.image_height) == head.size.height;
}

bool CoefficientCheck::Impl::same_frame() const {
  if (!same_size() || codec.num_components != head.component_count) return false;
  for (int component = 0; component < codec.num_components; ++component) {
    if (!same_table(component)) return false;
  }
  return true;
}

Status CoefficientCheck::Impl::unpack_row(int mcu_row, std::span<const std::byte> payload) {
  const PayloadRange range = rows_range(head, mcu_row, 1);
  if (range.offset + range.size > payload.size()) return differs("sizes");
  const auto bytes = payload.subspan(range.offset, range.size);
  if (Status status = check_rows(head, mcu_row, 1, bytes); !status) return status;
  for (int component = 0; component < head.component_count; ++component) {
    const int columns = segment_blocks(head, component, 0, head.segments_across).count;
    std::vector<std::int16_t>& target = row[std::size_t(component)];
    target.resize(std::size_t(columns) * kernels::kBlockCoefficients *
                  std::size_t(block_rows(head, component, mcu_row)));
    targets[std::size_t(component)] = {target.data(),
                                       std::ptrdiff_t{columns} * kernels::kBlockCoefficients};
  }
  const SegmentRange segments{mcu_row, 0, head.segments_across};
  return unpack_segments(head, segments, row_of(head, mcu_row, mcu_row, bytes),
                         std::span(targets).first(std::size_t(head.component_count)));
}

/// False when libjpeg failed.
bool CoefficientCheck::Impl::same_row(int mcu_row, bool& same) {
  return trap.guarded([&] {
    for (int component = 0; component < head.component_count; ++component) {
      const PayloadComponent& packed = head.components[std::size_t(component)];
      for (int v = 0; v < block_rows(head, component, mcu_row); ++v) {
        const int at = mcu_row * packed.vertical + v;
        JBLOCKARRAY blocks =
            codec.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&codec), arrays[component],
                                          static_cast<JDIMENSION>(at), 1, FALSE);
        const JCOEF* wanted = blocks[0][0];
        const CoefficientTarget& target = targets[std::size_t(component)];
        same = same && std::equal(wanted, wanted + std::ptrdiff_t{packed.columns} * DCTSIZE2,
                                  target.coefficients + v * target.row_stride);
      }
    }
  });
}

Status CoefficientCheck::compare(std::span<const std::byte> jpeg,
                                 std::span<const std::byte> payload) {
  Impl& impl = *impl_;
  Status status = parse_head(payload, impl.head);
  if (!status) return status;
  bool same = true;
  if (!impl.read(jpeg)) {
    status = impl.unreadable();
  } else if (!impl.same_frame() || payload_size(impl.head) != payload.size()) {
    status = differs("sizes or tables");
  }
  for (int row = 0; status && same && row < impl.head.mcu_rows; ++row) {
    status = impl.unpack_row(row, payload);
    if (status && !impl.same_row(row, same)) {
      status = impl.unreadable();
    }
  }
  (void)impl.trap.guarded([&] { jpeg_abort_decompress(&impl.codec); });
  if (!status) return status;
  return same ? Status() : Status(differs("coefficients"));
}

}  // namespace unstarve::feed
