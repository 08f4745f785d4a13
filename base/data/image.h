// SPDX-License-Identifier: Apache-2.0
// Photographs and drawings as input: PNG, JPEG and BMP.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

struct ImageSize {
  i64 height = 0, width = 0, channels = 0;
};

// Pixels as the file has them: row by row, channels together (grey, grey+alpha, RGB or RGBA),
// 0..255; 16-bit PNGs keep their fractions.
struct Image {
  ImageSize size;
  std::vector<float> pixels;
};

// value = (pixel * scale - mean) / std, with one mean and std for all channels or one for each.
struct ImageMap {
  float scale = 1.0f / 255.0f;
  std::vector<float> mean, std;  // empty: 0 and 1
  float value(float pixel, size_t channel) const;
  bool operator==(const ImageMap&) const = default;
};

// What the bytes of an input of `shape` stand for by that map: 256 numbers, or as many for each
// channel.
struct ByteNumbers {
  std::vector<float> numbers;  // [channels, 256]
  i64 axis = -1;               // the user's axis of the channels; -1: all bytes alike
  size_t channels() const { return numbers.size() / 256; }
};
std::optional<ByteNumbers> byte_numbers(const Shape& shape, const ImageMap& map,
                                        const std::string& where, Diagnostics& diagnostics);
// The byte that is nearest to each number of one sample, as a number from 0 to 255.
std::vector<float> nearest_bytes(std::span<const float> numbers, const Shape& shape,
                                 const ByteNumbers& by);
// The numbers that samples of bytes stand for, one after the other, row-major in the user's axes:
// float32 as it lies in memory.
std::optional<std::vector<std::byte>> numbers_of_bytes(std::span<const std::byte> bytes,
                                                       const Shape& shape, const ImageMap& map,
                                                       const std::string& where,
                                                       Diagnostics& diagnostics);

// The image in the user's axes of an input of `shape`: [1,c,h,w], [c,h,w] or [h,w]; where c is not
// 1, 3 or 4 but the last axis is, [1,h,w,c] or [h,w,c]. Nothing is resized or recoloured: height,
// width and channels must be those of the input, and they are compared before anything is decoded,
// so that an image takes no more memory than the input.
std::optional<std::vector<float>> read_image(const std::string& path, const Shape& shape,
                                             const ImageMap& map, Diagnostics& diagnostics);

}  // namespace deuteron
