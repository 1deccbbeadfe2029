#include "feed/tiff/tiff_file.h"

#include <algorithm>
#include <string_view>

#include "feed/data/decode_errors.h"

namespace unstarve::feed {
namespace {

using TagNumbers = std::vector<std::uint32_t>;

constexpr std::uint32_t kPhotoWhiteIsZero = 0;
constexpr std::uint32_t kPhotoBlackIsZero = 1;
constexpr std::uint32_t kPhotoRgb = 2;
constexpr std::uint32_t kPhotoPalette = 3;
constexpr std::uint32_t kPhotoCmyk = 5;

/// An error where the tag says anything but `usual`, which it also says where it is not there.
Status check_usual(const TiffDirectory& tags, TiffTag tag, std::uint32_t usual, const char* what) {
  const Result<std::uint32_t> said = tags.number(tag, usual);
  if (!said) return forward_error(said);
  if (*said == usual) return {};
  return fail(ErrorCode::kNotSupported, "a TIFF {} (tag {} is {}): left to Pillow", what,
              static_cast<int>(tag), *said);
}

Status check_upright(std::span<const std::byte> xmp) {
  const std::string_view text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  if (text.find("Orientation") == std::string_view::npos) return {};
  return fail(ErrorCode::kNotSupported, "a TIFF that XMP may turn: left to Pillow");
}

Status check_rest(const TiffDirectory& tags) {
  for (const auto& [tag, what] :
       {std::pair{TiffTag::kFillOrder, "with reversed bits"},
        std::pair{TiffTag::kOrientation, "that is to be turned"},
        std::pair{TiffTag::kPlanes, "in planes"}, std::pair{TiffTag::kInkSet, "of other inks"}}) {
    if (Status usual = check_usual(tags, tag, 1, what); !usual) return usual;
  }
  return check_upright(tags.bytes(TiffTag::kXmp));
}

Status read_packing(const TiffDirectory& tags, TiffFile& tiff) {
  const Result<std::uint32_t> packing = tags.number(TiffTag::kCompression, 1);
  if (!packing) return forward_error(packing);
  switch (*packing) {
    case 1: tiff.packing = TiffPacking::kNone; break;
    case 5: tiff.packing = TiffPacking::kLzw; break;
    case 8:
    case 32946: tiff.packing = TiffPacking::kDeflate; break;
    case 32773: tiff.packing = TiffPacking::kPackBits; break;
    default:
      return fail(ErrorCode::kNotSupported, "a TIFF of compression {}: left to Pillow", *packing);
  }
  const Result<std::uint32_t> predictor = tags.number(TiffTag::kPredictor, 1);
  if (!predictor) return forward_error(predictor);
  const bool may_differ =
      tiff.packing == TiffPacking::kLzw || tiff.packing == TiffPacking::kDeflate;
  if (*predictor == 0 || *predictor > 2 || (*predictor == 2 && !may_differ)) {
    return fail(ErrorCode::kNotSupported, "a TIFF with predictor {}: left to Pillow", *predictor);
  }
  tiff.is_differences = *predictor == 2;
  return {};
}

/// That all samples have the same bits, and are whole numbers without a sign.
Status read_samples(const TiffDirectory& tags, TiffFile& tiff) {
  const Result<std::uint32_t> samples = tags.number(TiffTag::kSamples, 1);
  if (!samples) return forward_error(samples);
  constexpr std::uint32_t kMost = 6;
  if (*samples == 0 || *samples > kMost) {
    return fail(ErrorCode::kNotSupported, "a TIFF of {} samples a pixel: left to Pillow", *samples);
  }
  const auto all_are = [&](TiffTag tag, std::uint32_t usual) -> Result<std::uint32_t> {
    if (!tags.has(tag)) return *samples == 1 ? usual : 0;
    TagNumbers numbers;
    if (Status read = tags.numbers(tag, numbers); !read) return forward_error(read);
    const bool same = std::count(numbers.begin(), numbers.end(), numbers.front()) ==
                      std::ptrdiff_t(numbers.size());
    return same && numbers.size() == *samples ? numbers.front() : 0;
  };
  const Result<std::uint32_t> bits = all_are(TiffTag::kBits, 1);
  if (!bits) return forward_error(bits);
  const Result<std::uint32_t> format =
      tags.has(TiffTag::kSampleFormat) ? all_are(TiffTag::kSampleFormat, 1) : 1;
  if (!format) return forward_error(format);
  const bool is_whole_bytes =
      *bits == 8 || (*samples == 1 && (*bits == 1 || *bits == 2 || *bits == 4));
  // libtiff sums no parts of a byte.
  if (!is_whole_bytes || *format != 1 || (tiff.is_differences && *bits != 8)) {
    return fail(ErrorCode::kNotSupported,
                "a TIFF of {} samples of {} bits and format {}: left to Pillow", *samples, *bits,
                *format);
  }
  tiff.samples = static_cast<int>(*samples);
  tiff.bits = static_cast<int>(*bits);
  return {};
}

void fill_greys(bool white_is_zero, TiffFile& tiff) {
  const unsigned last = (1U << tiff.bits) - 1;
  for (unsigned i = 0; i <= last; ++i) {
    const auto grey = static_cast<std::uint8_t>((white_is_zero ? last - i : i) * 255 / last);
    tiff.colours[i] = {grey, grey, grey};
  }
}

/// All reds, then all greens, then all blues, of 16 bits.
Status read_tiff_palette(const TiffDirectory& tags, TiffFile& tiff) {
  TagNumbers numbers;
  if (Status read = tags.numbers(TiffTag::kColours, numbers); !read) return read;
  // libtiff passes over colours without it.
  if (!tags.has(TiffTag::kBits)) {
    return fail(ErrorCode::kNotSupported, "a TIFF of colours that names no bits: left to Pillow");
  }
  const std::size_t count = std::size_t{1} << tiff.bits;
  if (numbers.size() != 3 * count || *std::max_element(numbers.begin(), numbers.end()) > 0xFFFF) {
    return fail(ErrorCode::kNotSupported, "a TIFF of {} bits with {} colours: left to Pillow",
                tiff.bits, numbers.size() / 3);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t part = 0; part < 3; ++part) {
      tiff.colours[i][part] = static_cast<std::uint8_t>(numbers[part * count + i] >> 8);
    }
  }
  return {};
}

/// What the samples behind a pixel's colour are: nothing, or transparency that it has not been
/// multiplied by. RGB of four samples may leave that open.
Status check_extra(const TiffDirectory& tags, int colours, TiffFile& tiff) {
  TagNumbers extra;
  if (tags.has(TiffTag::kExtraSamples)) {
    if (Status read = tags.numbers(TiffTag::kExtraSamples, extra); !read) return read;
  }
  const bool is_open = extra.empty() && tiff.colour == TiffColour::kRgb && tiff.samples == 4;
  const auto count = static_cast<int>(extra.size());
  const bool has_alpha = !extra.empty() && extra.front() == 2 && tiff.colour != TiffColour::kCmyk;
  const bool others_are_nothing = std::all_of(extra.begin() + (has_alpha ? 1 : 0), extra.end(),
                                              [](std::uint32_t kind) { return kind == 0; });
  tiff.is_rgb = tiff.colour == TiffColour::kRgb && !has_alpha && !is_open;
  if (is_open || (tiff.samples == colours + count && others_are_nothing)) return {};
  return fail(ErrorCode::kNotSupported,
              "a TIFF of {} samples a pixel, {} of them extra ones: left to Pillow", tiff.samples,
              count);
}

Status read_colour(const TiffDirectory& tags, TiffFile& tiff) {
  const Result<std::uint32_t> photometric = tags.number(TiffTag::kPhotometric);
  if (!photometric) return forward_error(photometric);
  const bool is_single = tiff.samples == 1;
  const bool is_pair = tiff.samples == 2 && tiff.bits == 8;
  if (*photometric == kPhotoRgb && tiff.bits == 8) {
    tiff.colour = TiffColour::kRgb;
    return check_extra(tags, 3, tiff);
  }
  if (*photometric == kPhotoCmyk && tiff.bits == 8) {
    tiff.colour = TiffColour::kCmyk;
    return check_extra(tags, 4, tiff);
  }
  const bool is_grey = *photometric == kPhotoBlackIsZero && (is_single || is_pair);
  if (is_grey || (*photometric == kPhotoWhiteIsZero && is_single)) {
    fill_greys(*photometric == kPhotoWhiteIsZero, tiff);
  } else if (*photometric == kPhotoPalette && is_single) {
    if (Status filled = read_tiff_palette(tags, tiff); !filled) return filled;
  } else {
    return fail(ErrorCode::kNotSupported,
                "a TIFF of colours {} in {} samples of {} bits: left to Pillow", *photometric,
                tiff.samples, tiff.bits);
  }
  tiff.colour = TiffColour::kTable;
  return check_extra(tags, 1, tiff);
}

Status read_tiff_size(const TiffDirectory& tags, std::int64_t max_pixels, TiffFile& tiff) {
  const Result<std::uint32_t> width = tags.number(TiffTag::kWidth);
  const Result<std::uint32_t> height = tags.number(TiffTag::kHeight);
  if (!width) return forward_error(width);
  if (!height) return forward_error(height);
  constexpr std::uint32_t kLongest = 1U << 24;  // so that no product leaves 64 bits
  if (*width == 0 || *height == 0 || *width > kLongest || *height > kLongest) {
    return fail(ErrorCode::kNotSupported, "a TIFF of {} x {} pixels: left to Pillow", *width,
                *height);
  }
  max_pixels = std::min<std::int64_t>(max_pixels, INT32_MAX / 6);
  if (Status status = check_pixels(*width, *height, max_pixels); !status) return status;
  tiff.size = {static_cast<int>(*width), static_cast<int>(*height)};
  return {};
}

Status read_piece_size(const TiffDirectory& tags, std::int64_t max_pixels, TiffFile& tiff) {
  tiff.is_tiled = tags.has(TiffTag::kTileOffsets);
  if (!tiff.is_tiled) {
    const auto height = static_cast<std::uint32_t>(tiff.size.height);
    const Result<std::uint32_t> rows = tags.number(TiffTag::kRowsOfStrip, height);
    if (!rows) return forward_error(rows);
    if (*rows == 0) return fail(ErrorCode::kCorruptData, "a TIFF of strips without rows");
    if (*rows > INT32_MAX && *rows != UINT32_MAX) {  // which says that there is one strip
      return fail(ErrorCode::kNotSupported, "a TIFF of strips of {} rows: left to Pillow", *rows);
    }
    tiff.piece = {tiff.size.width, static_cast<int>(std::min(*rows, height))};
    return {};
  }
  const Result<std::uint32_t> width = tags.number(TiffTag::kTileWidth);
  const Result<std::uint32_t> height = tags.number(TiffTag::kTileHeight);
  if (!width) return forward_error(width);
  if (!height) return forward_error(height);
  constexpr std::uint32_t kMultiple = 16;
  constexpr std::uint32_t kLongest = 1U << 15;
  if (*width == 0 || *height == 0 || *width % kMultiple != 0 || *height % kMultiple != 0 ||
      *width > kLongest || *height > kLongest || tags.has(TiffTag::kStripOffsets)) {
    return fail(ErrorCode::kNotSupported, "a TIFF of tiles of {} x {} pixels: left to Pillow",
                *width, *height);
  }
  max_pixels = std::min<std::int64_t>(max_pixels, INT32_MAX / 6);
  if (Status status = check_pixels(*width, *height, max_pixels); !status) return status;
  tiff.piece = {static_cast<int>(*width), static_cast<int>(*height)};
  return {};
}

/// Where all pieces lie. One that is not packed has all of its bytes.
Status find_pieces(const TiffDirectory& tags, std::span<const std::byte> file, TiffFile& tiff) {
  TagNumbers offsets;
  TagNumbers counts;
  const auto tag = [&tiff](TiffTag strips, TiffTag tiles) {
    return tiff.is_tiled ? tiles : strips;
  };
  Status read = tags.numbers(tag(TiffTag::kStripOffsets, TiffTag::kTileOffsets), offsets);
  if (read) read = tags.numbers(tag(TiffTag::kStripBytes, TiffTag::kTileBytes), counts);
  if (!read) return read;
  const int across = (tiff.size.width - 1) / tiff.piece.width + 1;
  const int down = (tiff.size.height - 1) / tiff.piece.height + 1;
  const std::size_t pieces = static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  if (offsets.size() != pieces || counts.size() != pieces) {
    return fail(ErrorCode::kNotSupported,
                "a TIFF of {} pieces that names {} places: left to Pillow", pieces, offsets.size());
  }
  tiff.pieces_across = across;
  tiff.pieces.clear();
  for (std::size_t i = 0; i < pieces; ++i) {
    if (offsets[i] > file.size() || counts[i] > file.size() - offsets[i]) return cut_short();
    const std::size_t whole = tiff.bytes_of_a_row() * static_cast<std::size_t>(tiff.rows_of(i));
    if (tiff.packing == TiffPacking::kNone && counts[i] != whole) {
      return fail(ErrorCode::kNotSupported,
                  "a TIFF of {} bytes where {} are needed: left to Pillow", counts[i], whole);
    }
    tiff.pieces.push_back(file.subspan(offsets[i], counts[i]));
  }
  return {};
}

}  // namespace

std::size_t TiffFile::bytes_of_a_row() const {
  const auto bits_of_a_row = static_cast<std::size_t>(piece.width) *
                             static_cast<std::size_t>(samples) * static_cast<std::size_t>(bits);
  return (bits_of_a_row + 7) / 8;
}

int TiffFile::rows_of(std::size_t index) const {
  if (is_tiled) return piece.height;
  return std::min(piece.height, size.height - static_cast<int>(index) * piece.height);
}

Status read_tiff(std::span<const std::byte> file, std::int64_t max_pixels, TiffFile& tiff) {
  TiffDirectory tags;
  if (Status read = tags.read(file); !read) return read;
  if (Status read = read_tiff_size(tags, max_pixels, tiff); !read) return read;
  if (Status usual = check_rest(tags); !usual) return usual;
  if (Status read = read_packing(tags, tiff); !read) return read;
  if (Status read = read_samples(tags, tiff); !read) return read;
  if (Status read = read_colour(tags, tiff); !read) return read;
  if (Status read = read_piece_size(tags, max_pixels, tiff); !read) return read;
  return find_pieces(tags, file, tiff);
}

}  // namespace unstarve::feed
