// SPDX-License-Identifier: Apache-2.0
// libpng tells faults by longjmp: between setjmp and its calls there is nothing here that has a
// destructor.
#include <csetjmp>
#include <cstring>

#include "base/data/decode_image.h"

#include <png.h>

namespace deuteron {
namespace {

constexpr png_alloc_size_t kMostChunkBytes = 1 << 20;  // of a chunk without pixels, unpacked
constexpr png_uint_32 kMostChunks = 1000;              // of those that are kept

struct PngDecoder {
  std::span<const std::byte> file;
  const AcceptImage& accept;
  size_t at = 0;
  ImageSize size;
  bool deep = false, accepted = false;
  std::vector<uint8_t> pixels;  // as the file has them: 16 bits with the upper byte first
  char fault[160] = "";
};

void read_bytes(png_structp png, png_bytep to, size_t count) {
  auto* d = static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (count > d->file.size() - d->at) png_error(png, "the file ends too early");
  std::memcpy(to, d->file.data() + d->at, count);
  d->at += count;
}

[[noreturn]] void on_error(png_structp png, png_const_charp what) {
  auto* d = static_cast<PngDecoder*>(png_get_error_ptr(png));
  std::strncpy(d->fault, what, sizeof d->fault - 1);
  png_longjmp(png, 1);
}
// of colour profiles and the like; checksums are errors
void on_warning(png_structp, png_const_charp) {}

void read_png_header(PngDecoder& d, png_structp png, png_infop info) {
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_chunk_malloc_max(png, kMostChunkBytes);
  png_set_chunk_cache_max(png, kMostChunks);
  png_set_read_fn(png, &d, read_bytes);
  png_read_info(png, info);
  png_set_expand(png);  // palettes and few bits to 8, transparency to alpha
}

void read_pixels(PngDecoder& d, png_structp png, png_infop info) {
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  d.deep = png_get_bit_depth(png, info) == 16;
  d.size = {png_get_image_height(png, info), png_get_image_width(png, info),
            png_get_channels(png, info)};
  if (!(d.accepted = d.accept(d.size))) return;
  const size_t row = png_get_rowbytes(png, info);
  d.pixels.resize(row * static_cast<size_t>(d.size.height));
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < static_cast<size_t>(d.size.height); ++y)
      png_read_row(png, d.pixels.data() + y * row, nullptr);
  png_read_end(png, nullptr);
}

bool read_with(PngDecoder& d, png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  read_png_header(d, png, info);
  read_pixels(d, png, info);
  return true;
}

bool read_png(PngDecoder& d) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool whole = info && read_with(d, png, info);
  png_destroy_read_struct(&png, &info, nullptr);
  return whole;
}

}  // namespace

std::string decode_png(std::span<const std::byte> file, const AcceptImage& accept, Image* image) {
  PngDecoder d{file, accept, 0, {}, false, false, {}, ""};
  if (!read_png(d)) return *d.fault ? d.fault : "libpng cannot begin";
  if (!d.accepted) return "";
  image->size = d.size;
  image->pixels.resize(d.deep ? d.pixels.size() / 2 : d.pixels.size());
  for (size_t i = 0; i < image->pixels.size(); ++i)
    image->pixels[i] = d.deep ? static_cast<float>(d.pixels[2 * i] << 8 | d.pixels[2 * i + 1]) *
                                    (255.0f / 65535.0f)
                              : static_cast<float>(d.pixels[i]);
  return "";
}

}  // namespace deuteron
