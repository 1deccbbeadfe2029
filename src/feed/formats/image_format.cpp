#include "feed/formats/image_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace unstarve::feed {

namespace {

// Those that torchvision's ImageFolder takes for images.
constexpr std::array<std::string_view, 9> kKnownEndings = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                           ".pgm", ".tif",  ".tiff", ".webp"};

char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), name.end() - std::ptrdiff_t(ending.size()),
                    [](char wanted, char given) { return small(given) == wanted; });
}

/// By what the file begins with; the end where it is of none.
auto format_of(std::span<const std::byte> file) {
  const std::vector<ImageFormatKind>& formats = image_formats();
  return std::find_if(formats.begin(), formats.end(),
                      [file](const ImageFormatKind& kind) { return kind.begins(file); });
}

}  // namespace

const std::vector<ImageFormatKind>& image_formats() {
  static const std::vector<ImageFormatKind> kFormats = list_image_formats();
  return kFormats;
}

NameKind kind_of_name(std::string_view name) {
  const auto is_one_of = [name](const auto& endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [name](std::string_view ending) { return ends_with(name, ending); });
  };
  if (!is_one_of(kKnownEndings)) return NameKind::kNoImage;  // as .gif: the samples are the same
  for (const ImageFormatKind& format : image_formats()) {
    if (is_one_of(format.endings)) return NameKind::kImage;
  }
  return NameKind::kOtherImage;
}

bool is_image_ending(std::string_view ending) {
  return std::any_of(image_formats().begin(), image_formats().end(),
                     [ending](const ImageFormatKind& format) {
                       const auto& endings = format.endings;
                       return std::find(endings.begin(), endings.end(), ending) != endings.end();
                     });
}

bool may_be_turned(std::span<const std::byte> file) {
  const auto format = format_of(file);
  return format != image_formats().end() && format->may_turn != nullptr && format->may_turn(file);
}

bool is_rgb_image(std::span<const std::byte> file) {
  const auto format = format_of(file);
  return format != image_formats().end() && format->is_rgb != nullptr && format->is_rgb(file);
}

std::string image_format_names() {
  std::string names;
  for (const ImageFormatKind& format : image_formats()) {
    names += (names.empty() ? "" : ", ") + format.name;
  }
  return names;
}

FileFormats::FileFormats(const DecodeLimits& limits)
    : limits_(limits), made_(image_formats().size()) {}

Result<ImageFormat*> FileFormats::find(std::span<const std::byte> file) {
  const std::vector<ImageFormatKind>& formats = image_formats();
  const auto format = format_of(file);
  if (format == formats.end()) {
    return fail(ErrorCode::kNotSupported, "{} of no format that is decoded here ({})",
                file.empty() ? "an empty file," : "a file", image_format_names());
  }
  std::unique_ptr<ImageFormat>& made = made_[static_cast<std::size_t>(format - formats.begin())];
  if (made == nullptr) {
    Result<std::unique_ptr<ImageFormat>> fresh = format->make(limits_);
    if (!fresh) return forward_error(fresh);
    made = std::move(*fresh);
  }
  return made.get();
}

}  // namespace unstarve::feed
