// SPDX-License-Identifier: Apache-2.0
// The decoders behind read_image(). Each is strict: what is cut short, has a wrong checksum or was
// repaired on the way is a fault.
#pragma once
#include <functional>

#include "base/data/image.h"

namespace deuteron {

// Each asks `accept` about the size in the header before it decodes a pixel or takes memory for
// one. Answers what is wrong with the file. Empty: `image` has the pixels, or none because `accept`
// said no.
using AcceptImage = std::function<bool(const ImageSize&)>;
std::string decode_png(std::span<const std::byte> file, const AcceptImage& accept, Image* image);
std::string decode_jpeg(std::span<const std::byte> file, const AcceptImage& accept, Image* image);
std::string decode_bmp(std::span<const std::byte> file, const AcceptImage& accept, Image* image);

}  // namespace deuteron
