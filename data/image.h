// Photographs and drawings as input: PNG, JPEG and BMP.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/type.h"

namespace deuteron {

// Pixels as the file has them: row by row, channels together (grey, grey+alpha, RGB or RGBA), 0..255; 16-bit PNGs keep their fractions.
struct Image {
  i64 height = 0, width = 0, channels = 0;
  std::vector<float> pixels;
};
std::optional<Image> read_image(const std::string& path, Diagnostics& diagnostics);

// value = (pixel * scale - mean) / std, with one mean and std for all channels or one for each.
struct ImageMap {
  float scale = 1.0f / 255.0f;
  std::vector<float> mean, std;  // empty: 0 and 1
};

// The image in the user's axes of an input of `shape`: [1,c,h,w], [c,h,w] or [h,w]; where c is not 1, 3 or 4 but the last axis is,
// [1,h,w,c] or [h,w,c]. Nothing is resized or recoloured: height, width and channels must be those of the input.
std::optional<std::vector<float>> image_as_input(const Image& image, const Shape& shape, const ImageMap& map, const std::string& where,
                                                 Diagnostics& diagnostics);

}  // namespace deuteron
