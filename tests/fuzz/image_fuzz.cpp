// SPDX-License-Identifier: Apache-2.0
// PNG, JPEG and BMP. The first byte chooses the shape of the input that the image is for, and its
// map. A byte that becomes a number by that map, and a byte again, is the same one.
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/data/image.h"
#include "tests/fuzz/memory_file.h"

using namespace deuteron;

// The file's bytes, as those that a camera gives.
static void check_bytes(std::span<const uint8_t> file, const Shape& shape, const ImageMap& map) {
  std::vector<std::byte> bytes(static_cast<size_t>(numel(shape)));
  for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = std::byte{file[k % file.size()]};
  Diagnostics diagnostics;
  const auto by = byte_numbers(shape, map, "fuzz", diagnostics);
  DEUTERON_CHECK(by.has_value() != diagnostics.has_errors());
  const auto numbers = numbers_of_bytes(bytes, shape, map, "fuzz", diagnostics);
  DEUTERON_CHECK(by.has_value() == numbers.has_value());
  if (!by) return;
  const std::span<const float> values(reinterpret_cast<const float*>(numbers->data()),
                                      bytes.size());
  const std::vector<float> again = nearest_bytes(values, shape, *by);
  for (size_t k = 0; k < bytes.size(); ++k)
    DEUTERON_CHECK(again[k] == static_cast<float>(std::to_integer<int>(bytes[k])));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Shape kShapes[] = {{1, 3, 32, 32}, {1, 1, 8, 8}, {8, 8},    {1, 4, 4, 3}, {3, 5, 7},
                                  {1, 4, 2, 2},   {2},          {2, 2, 3}, {2, 2},       {2, 2, 2}};
  if (size < 2) return 0;
  const Shape& shape = kShapes[(data[0] & 63) % std::size(kShapes)];
  const test::MemoryFile file(data + 1, size - 1);
  ImageMap map;
  if (data[0] & 128) map.scale = 2, map.mean = {0.5f}, map.std = {0.25f};
  if (data[0] & 64) map.mean = {1, 2, 3};
  if (numel(shape) <= 256) check_bytes({data + 1, size - 1}, shape, map);
  Diagnostics diagnostics;
  const std::optional<std::vector<float>> values = read_image(file.path(), shape, map, diagnostics);
  DEUTERON_CHECK(values.has_value() != diagnostics.has_errors());
  if (!values) return 0;
  DEUTERON_CHECK(static_cast<i64>(values->size()) == numel(shape));
  for (const float v : *values) DEUTERON_CHECK(std::isfinite(v));
  return 0;
}
