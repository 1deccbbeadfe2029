#include "feed/jpeg/baseline/baseline_frame.h"

#include <algorithm>
#include <cstring>

#include "kernels/segment/segment_layout.h"

namespace unstarve::feed {
namespace {

// Marker codes, T.81 table B.1.
constexpr int kSof0 = 0xC0;  // baseline
constexpr int kSof1 = 0xC1;  // extended sequential: the same with more tables
constexpr int kDht = 0xC4;
constexpr int kSoi = 0xD8;
constexpr int kSos = 0xDA;
constexpr int kDqt = 0xDB;
constexpr int kDri = 0xDD;
constexpr int kApp0 = 0xE0;
constexpr int kApp14 = 0xEE;
constexpr int kApp15 = 0xEF;
constexpr int kCom = 0xFE;

tl::unexpected<Error> unsupported(const char* feature) {
  return fail(ErrorCode::kNotSupported, "not read by the baseline decoder: {}", feature);
}

/// The bytes of one marker segment, after its length.
class Segment {
 public:
  explicit Segment(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size() - at_; }
  int byte() { return std::to_integer<int>(bytes_[at_++]); }
  int word() {
    const int high = byte();
    return high << 8 | byte();
  }
  bool starts_with(const char* text, std::size_t size) const {
    return bytes_.size() >= size && std::memcmp(bytes_.data(), text, size) == 0;
  }
  std::span<const std::uint8_t> take(std::size_t count) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + at_;
    at_ += count;
    return {first, count};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Collects what the markers say on the way to the scan.
class HeaderReader {
 public:
  explicit HeaderReader(BaselineFrame& frame) : frame_(frame) {}

  Status read(int marker, Segment segment) {
    switch (marker) {
      case kDqt: return read_quantisation(segment);
      case kDht: return read_huffman(segment);
      case kSof0:
      case kSof1: return read_frame(segment);
      case kDri:
        if (segment.left() != 2) return unsupported("a restart interval of odd size");
        frame_.restart_interval = segment.word();
        return {};
      case kApp0:
        if (segment.left() >= 14 && segment.starts_with("JFIF", 5)) saw_jfif_ = true;
        return {};
      case kApp14:
        if (segment.left() >= 12 && segment.starts_with("Adobe", 5)) {
          saw_adobe_ = true;
          adobe_transform_ = segment.take(12)[11];
        }
        return {};
      default:
        if ((marker > kApp0 && marker <= kApp15) || marker == kCom) return {};
        return unsupported("its coding process");
    }
  }

  /// The scan's header; then all is known.
  Status finish(Segment segment) {
    if (frame_.component_count == 0) return unsupported("a scan before the frame");
    const auto count = static_cast<std::size_t>(frame_.component_count);
    if (segment.left() != 4 + 2 * count || segment.byte() != frame_.component_count) {
      return unsupported("several scans");
    }
    for (std::size_t i = 0; i < count; ++i) {
      BaselineFrame::Component& component = frame_.components[i];
      const int id = segment.byte();
      const int tables = segment.byte();
      component.dc_table = tables >> 4;
      component.ac_table = tables & 15;
      if (id != component.id) return unsupported("components in another order");
      if (component.dc_table > 3 || component.ac_table > 3 ||
          !has_dc_[static_cast<std::size_t>(component.dc_table)] ||
          !has_ac_[static_cast<std::size_t>(component.ac_table)] ||
          !has_quantisation_[static_cast<std::size_t>(component.quantisation)]) {
        return unsupported("a missing table");
      }
    }
    if (segment.byte() != 0 || segment.byte() != 63 || segment.byte() != 0) {
      return unsupported("a partial scan");
    }
    frame_.color = color();
    return {};
  }

 private:
  Status read_quantisation(Segment& segment) {
    while (segment.left() > 0) {
      const int head = segment.byte();
      const bool wide = head >> 4 != 0;
      const auto table = static_cast<std::size_t>(head & 15);
      if (head >> 4 > 1 || table > 3 || segment.left() < (wide ? 128U : 64U)) {
        return unsupported("a quantisation table of odd size");
      }
      for (const std::uint8_t position : kernels::segment::kNaturalOrder) {
        const int step = wide ? segment.word() : segment.byte();
        frame_.quantisation[table][position] = static_cast<std::uint16_t>(step);
      }
      has_quantisation_[table] = true;
    }
    return {};
  }

  Status read_huffman(Segment& segment) {
    while (segment.left() > 0) {
      if (segment.left() < 17) return unsupported("a Huffman table of odd size");
      const int head = segment.byte();
      const auto counts = segment.take(16).first<16>();
      std::size_t symbols = 0;
      for (const std::uint8_t count : counts) symbols += count;
      const auto table = static_cast<std::size_t>(head & 15);
      if (head >> 4 > 1 || table > 3 || symbols > 256 || segment.left() < symbols) {
        return unsupported("a Huffman table of odd size");
      }
      const bool is_ac = head >> 4 == 1;
      HuffmanTable& target = is_ac ? frame_.ac_tables[table] : frame_.dc_tables[table];
      const std::span<const std::uint8_t> values = segment.take(symbols);
      // A DC symbol is a number of bits.
      const auto is_bits = [](std::uint8_t symbol) { return symbol <= 15; };
      if (!is_ac && !std::all_of(values.begin(), values.end(), is_bits)) {
        return unsupported("a damaged table");
      }
      if (!target.build(counts, values)) return unsupported("a damaged table");
      (is_ac ? has_ac_ : has_dc_)[table] = true;
    }
    return {};
  }

  Status read_frame(Segment& segment) {
    if (frame_.component_count != 0) return unsupported("two frames");
    if (segment.left() < 6) return unsupported("a short frame header");
    if (segment.byte() != 8) return unsupported("samples that do not have 8 bits");
    frame_.size.height = segment.word();
    frame_.size.width = segment.word();
    const int count = segment.byte();
    if (count != 1 && count != 3) return unsupported("its number of components");
    if (segment.left() != 3 * static_cast<std::size_t>(count)) {
      return unsupported("a frame header of odd size");
    }
    if (frame_.size.width == 0 || frame_.size.height == 0) return unsupported("no size");
    frame_.component_count = count;
    for (int i = 0; i < count; ++i) {
      BaselineFrame::Component& component = frame_.components[static_cast<std::size_t>(i)];
      component.id = segment.byte();
      const int sampling = segment.byte();
      component.horizontal = sampling >> 4;
      component.vertical = sampling & 15;
      component.quantisation = segment.byte();
      if (component.horizontal < 1 || component.horizontal > 4 || component.vertical < 1 ||
          component.vertical > 4 || component.quantisation > 3) {
        return unsupported("odd sampling factors");
      }
    }
    return measure();
  }

  /// A single component is not interleaved: its blocks come one by one, whatever its factors.
  Status measure() {
    if (frame_.component_count == 1) {
      frame_.components[0].horizontal = 1;
      frame_.components[0].vertical = 1;
    }
    int blocks = 0;
    frame_.max_horizontal = 1;
    frame_.max_vertical = 1;
    for (int i = 0; i < frame_.component_count; ++i) {
      const BaselineFrame::Component& component = frame_.components[static_cast<std::size_t>(i)];
      frame_.max_horizontal = std::max(frame_.max_horizontal, component.horizontal);
      frame_.max_vertical = std::max(frame_.max_vertical, component.vertical);
      blocks += component.horizontal * component.vertical;
    }
    if (blocks > 10) return unsupported("more blocks in an MCU than the standard allows");
    const auto divide_up = [](int value, int by) { return (value + by - 1) / by; };
    frame_.mcus_across = divide_up(frame_.size.width, 8 * frame_.max_horizontal);
    frame_.mcu_rows = divide_up(frame_.size.height, 8 * frame_.max_vertical);
    return {};
  }

  /// As libjpeg decides it (jdapimin.c, default_decompress_parms).
  ColorForm color() const {
    if (frame_.component_count == 1) return ColorForm::kGrey;
    if (saw_jfif_) return ColorForm::kYcc;
    if (saw_adobe_) return adobe_transform_ == 0 ? ColorForm::kRgb : ColorForm::kYcc;
    const auto& parts = frame_.components;
    const bool rgb = parts[0].id == 'R' && parts[1].id == 'G' && parts[2].id == 'B';
    return rgb ? ColorForm::kRgb : ColorForm::kYcc;
  }

  BaselineFrame& frame_;
  std::array<bool, 4> has_quantisation_ = {};
  std::array<bool, 4> has_dc_ = {};
  std::array<bool, 4> has_ac_ = {};
  bool saw_jfif_ = false;
  bool saw_adobe_ = false;
  int adobe_transform_ = 0;
};

}  // namespace

Status read_baseline_frame(std::span<const std::byte> bytes, BaselineFrame& frame) {
  const auto byte_at = [&](std::size_t at) { return std::to_integer<int>(bytes[at]); };
  if (bytes.size() < 4 || byte_at(0) != 0xFF || byte_at(1) != kSoi) return unsupported("no JPEG");
  frame.component_count = 0;
  frame.restart_interval = 0;
  frame.markers.clear();
  HeaderReader reader(frame);
  std::size_t at = 2;
  while (bytes.size() - at >= 4) {
    if (byte_at(at) != 0xFF) return unsupported("bytes between its markers");
    const int marker = byte_at(at + 1);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const auto length = static_cast<std::size_t>(byte_at(at + 2) << 8 | byte_at(at + 3));
    if (length < 2 || length > bytes.size() - at - 2) return unsupported("a cut marker");
    const Segment segment(bytes.subspan(at + 4, length - 2));
    if ((marker >= kApp0 && marker <= kApp15) || marker == kCom) {
      const auto kept = bytes.subspan(at, 2 + length);
      frame.markers.insert(frame.markers.end(), kept.begin(), kept.end());
    }
    at += 2 + length;
    if (marker == kSos) {
      frame.scan = bytes.subspan(at);
      return reader.finish(segment);
    }
    if (Status status = reader.read(marker, segment); !status) return status;
  }
  return unsupported("no scan");
}

}  // namespace unstarve::feed
