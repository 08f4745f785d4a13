// PNG, JPEG and BMP. The first byte chooses the shape of the input that the image is for.
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "data/image.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  static const Shape kShapes[] = {{1, 3, 32, 32}, {1, 1, 8, 8}, {8, 8}, {1, 4, 4, 3}, {3, 5, 7}, {1, 4, 2, 2}};
  if (size < 2) return 0;
  const Shape& shape = kShapes[data[0] % std::size(kShapes)];
  const test::MemoryFile file(data + 1, size - 1);
  ImageMap map;
  if (data[0] & 128) map.scale = 2, map.mean = {0.5f}, map.std = {0.25f};
  Diagnostics diagnostics;
  const std::optional<std::vector<float>> values = read_image(file.path(), shape, map, diagnostics);
  DEUTERON_CHECK(values.has_value() != diagnostics.has_errors());
  if (!values) return 0;
  DEUTERON_CHECK(static_cast<i64>(values->size()) == numel(shape));
  for (const float v : *values) DEUTERON_CHECK(std::isfinite(v));
  return 0;
}
