#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"

namespace unstarve::feed {

/// What one loading thread has for the files of one format.
class ImageFormat {
 public:
  virtual ~ImageFormat() = default;

  /// Tried one after the other; the last one's error is the file's.
  virtual std::span<ImageDecoder* const> decoders() = 0;

  /// An error where a file was cut short below what its crop may need: else that would come to
  /// light in some epoch or other. Not needed where a decoder sees it in the header.
  virtual Status check_whole(std::span<const std::byte> /*file*/) { return {}; }

  /// A decoder that leaves in `payload` what a cache keeps in the file's place; null: there is none
  /// that does both in one pass.
  virtual ImageDecoder* keeping_decoder(std::vector<std::byte>& /*payload*/) { return nullptr; }

  /// Makes that of a file that has been decoded. kNotSupported: files of this kind are not kept.
  virtual Status encode(std::span<const std::byte> /*file*/, std::vector<std::byte>& /*payload*/) {
    return fail(ErrorCode::kNotSupported, "no copies are kept of files of this format");
  }
};

/// A format, as its file in kinds/ describes it.
struct ImageFormatKind {
  std::string name;                  // "JPEG"
  std::vector<std::string> endings;  // of files' names, in small letters: ".jpg"
  /// By content: whether a file, which may hold anything or nothing, is to be decoded so.
  bool (*begins)(std::span<const std::byte> file) = nullptr;
  Result<std::unique_ptr<ImageFormat>> (*make)(const DecodeLimits& limits) = nullptr;
  /// Whether a file of the format may say, beside its pixels, that they are to be turned or
  /// mirrored: true where nobody can tell. null: such files never say so.
  bool (*may_turn)(std::span<const std::byte> file) = nullptr;
  /// Whether PIL opens a file of the format in its mode RGB: false where nobody can tell. null: of
  /// no file.
  bool (*is_rgb)(std::span<const std::byte> file) = nullptr;
};

/// Every format there is. A new one is a file in kinds/ that defines `ImageFormatKind
/// NAME_format()`; the build writes this function.
std::vector<ImageFormatKind> list_image_formats();

/// The same, made once.
const std::vector<ImageFormatKind>& image_formats();

enum class NameKind {
  kImage,       // of a format that is decoded here
  kOtherImage,  // of another one
  kNoImage,     // torchvision's ImageFolder takes it for none
};

/// What a file of a folder or a zip is taken for by its name, with or without a path.
NameKind kind_of_name(std::string_view name);

/// Whether `ending`, in small letters and with its dot, is that of a format that is decoded here.
bool is_image_ending(std::string_view ending);

/// ImageFormatKind::may_turn of the file's format; of no format: false.
bool may_be_turned(std::span<const std::byte> file);
/// ImageFormatKind::is_rgb, likewise.
bool is_rgb_image(std::span<const std::byte> file);

/// "BMP, JPEG": for messages.
std::string image_format_names();

/// The formats of one loading thread, each made when its first file comes.
/// Thread rule: one thread at a time.
class FileFormats {
 public:
  explicit FileFormats(const DecodeLimits& limits);
  /// By what it begins with. kNotSupported: it is of none of them.
  Result<ImageFormat*> find(std::span<const std::byte> file);

 private:
  DecodeLimits limits_;
  std::vector<std::unique_ptr<ImageFormat>> made_;  // of image_formats(); null: not yet
};

}  // namespace unstarve::feed
