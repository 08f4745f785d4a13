#include "data/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "data/read_file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace deuteron {

std::optional<Image> read_image(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> file = read_file(path, diagnostics);
  if (!file) return std::nullopt;
  if (file->size() > INT_MAX) return diagnostics.error(path, "is too large for an image", "image.size"), std::nullopt;
  const auto* bytes = reinterpret_cast<const stbi_uc*>(file->data());
  const int size = static_cast<int>(file->size());
  int width = 0, height = 0, channels = 0;
  Image image;
  const auto keep = [&](const auto* pixels, float unit) {
    image = {height, width, channels, {}};
    image.pixels.resize(static_cast<size_t>(image.height * image.width * image.channels));
    for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<float>(pixels[i]) * unit;
  };
  if (stbi_is_16_bit_from_memory(bytes, size)) {
    const std::unique_ptr<stbi_us, void (*)(void*)> pixels(stbi_load_16_from_memory(bytes, size, &width, &height, &channels, 0),
                                                           stbi_image_free);
    if (pixels) keep(pixels.get(), 255.0f / 65535.0f);
  } else {
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(stbi_load_from_memory(bytes, size, &width, &height, &channels, 0),
                                                           stbi_image_free);
    if (pixels) keep(pixels.get(), 1.0f);
  }
  if (image.pixels.empty()) {
    diagnostics.error(
        path, fmt::format("is not a readable PNG, JPEG or BMP image: {}", stbi_failure_reason() ? stbi_failure_reason() : "unknown"),
        "image.format");
    return std::nullopt;
  }
  return image;
}

std::optional<std::vector<float>> image_as_input(const Image& image, const Shape& shape, const ImageMap& map, const std::string& where,
                                                 Diagnostics& diagnostics) {
  const auto refuse = [&](std::string what, std::string measured, std::string limit, const char* rule, const char* fix) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit), rule, fix});
    return std::nullopt;
  };
  const size_t rank = shape.size();
  Shape s = shape;
  if (rank == 4 && s[0] == 1) s.erase(s.begin());
  if (s.size() == 2) s.insert(s.begin(), 1);
  if (s.size() != 3)
    return refuse("an image cannot be an input of this shape", fmt::format("[{}]", to_text(shape)), "[1,c,h,w], [c,h,w] or [h,w]",
                  "image.input", "give the data as `.npy`");
  const auto is_colour = [](i64 c) { return c == 1 || c == 3 || c == 4; };
  const bool channels_first = rank == 2 || is_colour(s[0]) || !is_colour(s[2]);
  const i64 c = channels_first ? s[0] : s[2], h = channels_first ? s[1] : s[0], w = channels_first ? s[2] : s[1];
  if (image.height != h || image.width != w)
    return refuse("the image has another height and width than the input", fmt::format("{} x {}", image.height, image.width),
                  fmt::format("{} x {}", h, w), "image.extent", "resize it first: how to crop and filter is the model's choice, not ours");
  if (image.channels != c)
    return refuse("the image has another number of channels than the input", std::to_string(image.channels), std::to_string(c),
                  "image.channels", "convert it first (grey, RGB, RGBA)");
  for (const auto* list : {&map.mean, &map.std})
    if (list->size() > 1 && static_cast<i64>(list->size()) != c)
      return refuse("--image-mean and --image-std take one value, or one for each channel", std::to_string(list->size()), std::to_string(c),
                    "image.map", "");
  std::vector<float> values(image.pixels.size());
  for (i64 k = 0; k < c; ++k) {
    const float mean = map.mean.empty() ? 0.0f : map.mean[map.mean.size() > 1 ? k : 0];
    const float std = map.std.empty() ? 1.0f : map.std[map.std.size() > 1 ? k : 0];
    for (i64 p = 0; p < h * w; ++p) values[channels_first ? k * h * w + p : p * c + k] = (image.pixels[p * c + k] * map.scale - mean) / std;
  }
  return values;
}

}  // namespace deuteron
