// SPDX-License-Identifier: Apache-2.0
#include "base/data/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <jpeglib.h>
#include <png.h>

#include "tests/temporary_path.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<unsigned char>;

Bytes png_of(png_uint_32 format, png_uint_32 width, png_uint_32 height, const void* pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = format, image.width = width, image.height = height;
  png_alloc_size_t size = 0;
  EXPECT_TRUE(png_image_write_get_memory_size(image, size, 0, pixels, 0, nullptr));
  Bytes file(size);
  EXPECT_TRUE(png_image_write_to_memory(&image, file.data(), &size, 0, pixels, 0, nullptr));
  return file;
}

// A file of `components` colours whose pixels are all the same.
Bytes jpeg_of(int components, unsigned width, unsigned height, const Bytes& pixel,
              bool progressive = false) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_width = width, jpeg.image_height = height, jpeg.input_components = components;
  jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  Bytes line;
  for (unsigned x = 0; x < width; ++x) line.insert(line.end(), pixel.begin(), pixel.end());
  for (JSAMPROW row = line.data(); jpeg.next_scanline < height;)
    jpeg_write_scanlines(&jpeg, &row, 1);
  jpeg_finish_compress(&jpeg);
  Bytes file(data, data + size);
  std::free(data);
  jpeg_destroy_compress(&jpeg);
  return file;
}

void put(Bytes& file, size_t at, uint32_t v, int bytes = 4) {
  for (int k = 0; k < bytes; ++k)
    file[at + static_cast<size_t>(k)] = static_cast<unsigned char>(v >> 8 * k);
}
Bytes bmp_of(uint32_t width, uint32_t height, uint32_t bits, const Bytes& palette,
             const Bytes& lines) {
  Bytes file(54);
  file[0] = 'B', file[1] = 'M';
  put(file, 10, 54 + static_cast<uint32_t>(palette.size()));
  put(file, 14, 40), put(file, 18, width), put(file, 22, height), put(file, 26, 1, 2),
      put(file, 28, bits, 2);
  put(file, 46, static_cast<uint32_t>(palette.size()) / 4);
  file.insert(file.end(), palette.begin(), palette.end());
  file.insert(file.end(), lines.begin(), lines.end());
  return file;
}

struct Read {
  std::vector<float> values;
  std::string error;
};
Read read(const Bytes& file, const Shape& shape) {
  const std::string path = temporary_path("image");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  Diagnostics d;
  const auto values = read_image(path, shape, {1.0f, {}, {}}, d);
  EXPECT_EQ(d.list().size(), values ? 0u : 1u);
  std::filesystem::remove(path);
  return {values.value_or(std::vector<float>{}),
          d.list().empty() ? "" : format_diagnostic(d.list()[0])};
}

TEST(Image, PngsOfEveryKind) {
  const Bytes grey_alpha = {10, 255, 20, 128};
  EXPECT_THAT(read(png_of(PNG_FORMAT_GRAY, 2, 1, Bytes{7, 9}.data()), {1, 2}).values,
              ElementsAre(7, 9));
  EXPECT_THAT(read(png_of(PNG_FORMAT_RGB, 1, 2, Bytes{1, 2, 3, 4, 5, 6}.data()), {3, 2, 1}).values,
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(read(png_of(PNG_FORMAT_RGBA, 1, 1, Bytes{1, 2, 3, 4}.data()), {4, 1, 1}).values,
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(png_of(PNG_FORMAT_GA, 2, 1, grey_alpha.data()), {1, 1, 2}).error,
              HasSubstr("number of channels than the input: 2, limit 1"));
}

TEST(Image, JpegsOfEveryKind) {
  for (const bool progressive : {false, true}) {
    for (const float v : read(jpeg_of(1, 17, 9, {200}, progressive), {9, 17}).values)
      EXPECT_NEAR(v, 200, 1);
    const std::vector<float> rgb =
        read(jpeg_of(3, 17, 9, {200, 100, 50}, progressive), {3, 9, 17}).values;
    ASSERT_EQ(rgb.size(), 3u * 9 * 17);
    EXPECT_NEAR(rgb[0], 200, 3);
    EXPECT_NEAR(rgb[9 * 17], 100, 3);
    EXPECT_NEAR(rgb[2 * 9 * 17], 50, 3);
  }
  EXPECT_THAT(read(jpeg_of(4, 8, 8, {1, 2, 3, 4}), {4, 8, 8}).error,
              HasSubstr("4 colour components"));
}

TEST(Image, BitmapsOfEveryKind) {
  EXPECT_THAT(read(bmp_of(1, 2, 32, {}, {3, 2, 1, 9, 6, 5, 4, 8}), {4, 2, 1}).values,
              ElementsAre(4, 1, 5, 2, 6, 3, 8, 9));
  EXPECT_THAT(read(bmp_of(1, 1, 32, {}, {3, 2, 1, 0}), {4, 1, 1}).values, ElementsAre(1, 2, 3, 255))
      << "no alpha at all is none";
  const Bytes palette = {3, 2, 1, 0, 6, 5, 4, 0};
  EXPECT_THAT(read(bmp_of(3, 1, 1, palette, {0x40, 0, 0, 0}), {3, 1, 3}).values,
              ElementsAre(1, 4, 1, 2, 5, 2, 3, 6, 3));
  EXPECT_THAT(read(bmp_of(3, 1, 4, palette, {0x01, 0x10, 0, 0}), {3, 1, 3}).values,
              ElementsAre(1, 4, 4, 2, 5, 5, 3, 6, 6));
  EXPECT_THAT(read(bmp_of(1, 1, 8, palette, {1, 0, 0, 0}), {3, 1, 1}).values, ElementsAre(4, 5, 6));
  EXPECT_THAT(read(bmp_of(1, 1, 8, palette, {2, 0, 0, 0}), {3, 1, 1}).error,
              HasSubstr("palette does not have"));
  EXPECT_THAT(read(bmp_of(1, 1, 16, {}, {0, 0, 0, 0}), {3, 1, 1}).error,
              HasSubstr("16 bits a pixel are not taken"));
  Bytes top_first = bmp_of(1, static_cast<uint32_t>(-2), 24, {}, {3, 2, 1, 0, 6, 5, 4, 0});
  EXPECT_THAT(read(top_first, {3, 2, 1}).values, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(read(bmp_of(1, 0x80000000, 24, {}, {}), {3, 2, 1}).error,
              HasSubstr("another height and width than the input: 2147483648 x 1"));
}

// Every cut is refused. So is every change but of bytes that say nothing of the pixels, such as a
// BMP's resolution.
TEST(Image, WhatIsCutOrChangedIsRefused) {
  const Bytes files[] = {
      png_of(PNG_FORMAT_RGB, 2, 2, Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}.data()),
      jpeg_of(3, 9, 9, {9, 99, 199}), bmp_of(2, 2, 24, {}, Bytes(16, 7))};
  for (const Bytes& file : files) {
    const i64 side = file[0] == 0xff ? 9 : 2;
    ASSERT_FALSE(read(file, {3, side, side}).values.empty());
    for (size_t n = 1; n < file.size(); ++n)
      EXPECT_TRUE(read(Bytes(file.begin(), file.begin() + static_cast<i64>(n)), {3, side, side})
                      .values.empty())
          << n << " of " << file.size();
    for (size_t n = 0; n < file.size(); ++n) {
      Bytes changed = file;
      changed[n] ^= 0x41;
      const bool is_read = !read(changed, {3, side, side}).values.empty();
      EXPECT_FALSE(is_read && file[0] == 0x89) << n;  // each chunk of a PNG has a checksum
    }
  }
}

}  // namespace
}  // namespace deuteron
