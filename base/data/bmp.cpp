// SPDX-License-Identifier: Apache-2.0
// Windows bitmaps without compression: 1, 4 and 8 bits with a palette, 24 and 32 bits. Layout:
// Microsoft, "Bitmap Storage" (https://learn.microsoft.com/windows/win32/gdi/bitmap-storage).
#include <fmt/format.h>

#include <algorithm>

#include "base/data/decode_image.h"
#include "base/number_at.h"

namespace deuteron {
namespace {

constexpr size_t kFileHeaderBytes = 14, kInfoBytes = 40, kCoreBytes = 12, kMostHeaderBytes = 124;
constexpr uint32_t kRgb = 0, kBitFields = 3;
constexpr uint32_t kMasks[] = {
    0x00ff0000, 0x0000ff00, 0x000000ff};  // red, green, blue: what 32 bits are without masks, too

struct BmpHeader {
  ImageSize size;
  bool top_first = false;
  uint32_t bits = 0, compression = kRgb, colours = 0;
  size_t pixels_at = 0, palette_at = 0, palette_entry_bytes = 4;
};

// Empty: `h` is right. What lies beyond the headers has not been looked at.
std::string read_bmp_header(std::span<const std::byte> file, BmpHeader* h) {
  if (file.size() < kFileHeaderBytes + kCoreBytes) return "the file ends within its header";
  h->pixels_at = number_at<uint32_t>(file, 10);
  const size_t header_bytes = number_at<uint32_t>(file, 14);
  const bool core = header_bytes == kCoreBytes;
  if (!core && (header_bytes < kInfoBytes || header_bytes > kMostHeaderBytes))
    return "its header has an unknown length";
  if (file.size() < kFileHeaderBytes + header_bytes) return "the file ends within its header";
  const i64 height = core ? i64{number_at<uint16_t>(file, 20)} : i64{number_at<int32_t>(file, 22)};
  const i64 width = core ? i64{number_at<uint16_t>(file, 18)} : i64{number_at<int32_t>(file, 18)};
  h->top_first = height < 0;
  h->bits = number_at<uint16_t>(file, core ? 24 : 28);
  if (!core)
    h->compression = number_at<uint32_t>(file, 30), h->colours = number_at<uint32_t>(file, 46);
  if (number_at<uint16_t>(file, core ? 22 : 26) != 1) return "it does not have one plane";
  if (width < 1 || height == 0) return "it has no pixels";
  if (h->bits != 1 && h->bits != 4 && h->bits != 8 && h->bits != 24 && h->bits != 32)
    return fmt::format("{} bits a pixel are not taken (1, 4, 8, 24 and 32 are)", h->bits);
  if (h->compression != kRgb && !(h->compression == kBitFields && h->bits == 32))
    return "it is compressed";
  if (h->compression == kBitFields) {
    if (file.size() < 54 + sizeof kMasks) return "the file ends within its header";
    for (size_t k = 0; k < std::size(kMasks); ++k)
      if (number_at<uint32_t>(file, 54 + 4 * k) != kMasks[k])
        return "its colours lie in unusual bits";
  }
  h->size = {height < 0 ? -height : height, width, h->bits == 32 ? 4 : 3};
  h->palette_at = kFileHeaderBytes + header_bytes;
  h->palette_entry_bytes = core ? 3 : 4;
  if (h->bits <= 8) {
    const uint32_t most = 1u << h->bits;
    if (h->colours == 0) h->colours = most;
    if (h->colours > most) return "its palette has more colours than pixels can name";
    if (h->palette_at + h->colours * h->palette_entry_bytes > std::min(file.size(), h->pixels_at))
      return "its palette is cut short";
  }
  return h->pixels_at < h->palette_at ? "its pixels overlap its header" : "";
}

// One line of pixels in red, green, blue. False: a colour that the palette does not have.
bool read_line(std::span<const std::byte> file, const BmpHeader& h, size_t line, float* to) {
  for (i64 x = 0; x < h.size.width; ++x, to += h.size.channels) {
    size_t bgr = line + static_cast<size_t>(x) * (h.bits / 8);
    if (h.bits <= 8) {
      const size_t bit = static_cast<size_t>(x) * h.bits;
      const uint32_t byte = number_at<uint8_t>(file, line + bit / 8),
                     index = byte >> (8 - h.bits - bit % 8) & ((1u << h.bits) - 1);
      if (index >= h.colours) return false;
      bgr = h.palette_at + index * h.palette_entry_bytes;
    }
    for (size_t c = 0; c < 3; ++c)
      to[c] = static_cast<float>(number_at<uint8_t>(file, bgr + 2 - c));
    if (h.bits == 32) to[3] = static_cast<float>(number_at<uint8_t>(file, bgr + 3));
  }
  return true;
}

// Many writers leave the fourth byte at 0 and mean an opaque image.
void make_opaque_if_empty(std::vector<float>& rgba) {
  for (size_t i = 3; i < rgba.size(); i += 4)
    if (rgba[i] != 0) return;
  for (size_t i = 3; i < rgba.size(); i += 4) rgba[i] = 255;
}

}  // namespace

std::string decode_bmp(std::span<const std::byte> file, const AcceptImage& accept, Image* image) {
  BmpHeader h;
  if (std::string fault = read_bmp_header(file, &h); !fault.empty()) return fault;
  if (!accept(h.size)) return "";
  const auto height = static_cast<size_t>(h.size.height), width = static_cast<size_t>(h.size.width);
  const size_t line_bytes = (width * h.bits + 31) / 32 * 4;
  if (h.pixels_at > file.size() || (file.size() - h.pixels_at) / line_bytes < height)
    return "the file ends within its pixels";
  image->size = h.size;
  image->pixels.resize(height * width * static_cast<size_t>(h.size.channels));
  for (size_t y = 0; y < height; ++y) {
    const size_t line = h.pixels_at + (h.top_first ? y : height - 1 - y) * line_bytes;
    if (!read_line(file, h, line,
                   image->pixels.data() + y * width * static_cast<size_t>(h.size.channels)))
      return image->pixels.clear(), "a pixel has a colour that its palette does not have";
  }
  if (h.bits == 32) make_opaque_if_empty(image->pixels);
  return "";
}

}  // namespace deuteron
