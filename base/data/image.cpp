// SPDX-License-Identifier: Apache-2.0
#include "base/data/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/data/decode_image.h"
#include "base/files/read_file.h"

namespace deuteron {
namespace {

// How the input sees an image.
struct ImageAxes {
  i64 channels = 0, height = 0, width = 0;
  bool channels_first = true;
};

std::optional<ImageAxes> image_axes(const Shape& shape) {
  const size_t rank = shape.size();
  Shape s = shape;
  if (rank == 4 && s[0] == 1) s.erase(s.begin());
  if (s.size() == 2) s.insert(s.begin(), 1);
  if (s.size() != 3) return std::nullopt;
  const auto is_colour = [](i64 c) { return c == 1 || c == 3 || c == 4; };
  if (rank == 2 || is_colour(s[0]) || !is_colour(s[2])) return ImageAxes{s[0], s[1], s[2], true};
  return ImageAxes{s[2], s[0], s[1], false};
}

bool has_channels(const ImageMap& map, i64 channels, const std::string& where,
                  Diagnostics& diagnostics) {
  for (const auto* list : {&map.mean, &map.std})
    if (list->size() > 1 && static_cast<i64>(list->size()) != channels) {
      diagnostics.add({Severity::error, where,
                       "--image-mean and --image-std take one value, or one for each channel",
                       std::to_string(list->size()), std::to_string(channels), "image.map", ""});
      return false;
    }
  return true;
}

// Whether an image of that size can be the input.
bool fits(const ImageSize& image, const Shape& shape, const ImageMap& map, const std::string& where,
          Diagnostics& diagnostics) {
  const auto refuse = [&](std::string what, std::string measured, std::string limit,
                          const char* rule, const char* fix) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit),
                     rule, fix});
    return false;
  };
  const std::optional<ImageAxes> axes = image_axes(shape);
  if (!axes)
    return refuse("an image cannot be an input of this shape", fmt::format("[{}]", to_text(shape)),
                  "[1,c,h,w], [c,h,w] or [h,w]", "image.input", "give the data as `.npy`");
  if (image.height != axes->height || image.width != axes->width)
    return refuse("the image has another height and width than the input",
                  fmt::format("{} x {}", image.height, image.width),
                  fmt::format("{} x {}", axes->height, axes->width), "image.extent",
                  "resize it first: how to crop and filter is the model's choice, not ours");
  if (image.channels != axes->channels)
    return refuse("the image has another number of channels than the input",
                  std::to_string(image.channels), std::to_string(axes->channels), "image.channels",
                  "convert it first (grey, RGB, RGBA)");
  return has_channels(map, axes->channels, where, diagnostics);
}

std::vector<float> as_input(const Image& image, const ImageAxes& axes, const ImageMap& map) {
  std::vector<float> values(image.pixels.size());
  const i64 c = axes.channels, pixels = axes.height * axes.width;
  for (i64 k = 0; k < c; ++k)
    for (i64 p = 0; p < pixels; ++p)
      values[axes.channels_first ? k * pixels + p : p * c + k] =
          map.value(image.pixels[p * c + k], static_cast<size_t>(k));
  return values;
}

std::string decode(std::span<const std::byte> file, const AcceptImage& accept, Image* image) {
  const auto begins_with = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  if (begins_with("\x89PNG\r\n\x1a\n")) return decode_png(file, accept, image);
  if (begins_with("\xff\xd8")) return decode_jpeg(file, accept, image);
  if (begins_with("BM")) return decode_bmp(file, accept, image);
  return "it begins like none of them";
}

}  // namespace

float ImageMap::value(float pixel, size_t channel) const {
  const float m = mean.empty() ? 0.0f : mean[mean.size() > 1 ? channel : 0];
  const float s = std.empty() ? 1.0f : std[std.size() > 1 ? channel : 0];
  return (pixel * scale - m) / s;
}

std::optional<ByteNumbers> byte_numbers(const Shape& shape, const ImageMap& map,
                                        const std::string& where, Diagnostics& diagnostics) {
  ByteNumbers by;
  size_t channels = 1;
  if (map.mean.size() > 1 || map.std.size() > 1) {
    const std::optional<ImageAxes> axes = image_axes(shape);
    const i64 there = axes ? axes->channels : 1;
    if (!has_channels(map, there, where, diagnostics)) return std::nullopt;
    channels = static_cast<size_t>(there);
    by.axis = static_cast<i64>(shape.size()) - (axes->channels_first ? 3 : 1);
  }
  for (size_t k = 0; k < channels; ++k)
    for (int byte = 0; byte < 256; ++byte)
      by.numbers.push_back(map.value(static_cast<float>(byte), k));
  return by;
}

// Element i belongs to this channel.
static size_t channel_of(size_t i, const Shape& shape, const ByteNumbers& by) {
  if (by.axis < 0) return 0;
  return i /
         static_cast<size_t>(numel(std::span(shape).subspan(static_cast<size_t>(by.axis) + 1))) %
         by.channels();
}

std::optional<std::vector<std::byte>> numbers_of_bytes(std::span<const std::byte> bytes,
                                                       const Shape& shape, const ImageMap& map,
                                                       const std::string& where,
                                                       Diagnostics& diagnostics) {
  const std::optional<ByteNumbers> by = byte_numbers(shape, map, where, diagnostics);
  if (!by) return std::nullopt;
  std::vector<std::byte> numbers(bytes.size() * sizeof(float));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const float number =
        by->numbers[channel_of(i, shape, *by) * 256 + std::to_integer<size_t>(bytes[i])];
    std::memcpy(numbers.data() + i * sizeof number, &number, sizeof number);
  }
  return numbers;
}

std::vector<float> nearest_bytes(std::span<const float> numbers, const Shape& shape,
                                 const ByteNumbers& by) {
  std::vector<float> bytes(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float* const of_channel = by.numbers.data() + channel_of(i, shape, by) * 256;
    const float first = of_channel[0], step = (of_channel[255] - first) / 255;
    bytes[i] = std::clamp(std::nearbyint((numbers[i] - first) / step), 0.0f, 255.0f);
  }
  return bytes;
}

std::optional<std::vector<float>> read_image(const std::string& path, const Shape& shape,
                                             const ImageMap& map, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> file = read_file(path, diagnostics);
  if (!file) return std::nullopt;
  Image image;
  bool accepted = false;
  const std::string fault = decode(
      *file,
      [&](const ImageSize& size) { return accepted = fits(size, shape, map, path, diagnostics); },
      &image);
  if (!fault.empty())
    diagnostics.error(path, "is not a readable PNG, JPEG or BMP image: " + fault, "image.format");
  if (!fault.empty() || !accepted) return std::nullopt;
  return as_input(image, *image_axes(shape), map);
}

}  // namespace deuteron
