// NumPy's arrays, as data and as labels. What is read has as many bytes as its shape says, and can be written and read again.
#include <algorithm>

#include "base/check.h"
#include "data/inputs.h"
#include "data/labels.h"
#include "data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  Diagnostics diagnostics;
  const std::optional<Array> array = parse_npy(std::as_bytes(std::span(data, size)), "x.npy", diagnostics);
  DEUTERON_CHECK(array.has_value() != diagnostics.has_errors());
  if (!array) return 0;
  const size_t bytes = static_cast<size_t>(array->elements()) * static_cast<size_t>(array->type.bytes);
  DEUTERON_CHECK(array->bytes.size() == bytes);
  const std::vector<uint8_t> written = npy_bytes(array->type, array->shape, array->bytes);
  const std::optional<Array> again = parse_npy(std::as_bytes(std::span(written)), "again.npy", diagnostics);
  DEUTERON_CHECK(again && again->shape == array->shape && again->bytes == array->bytes);

  const i64 elements = array->elements();
  for (const DType dtype : {DType::f32, DType::s8, DType::s64, DType::b8}) {
    Diagnostics refused;
    const auto converted = convert(*array, dtype, std::max<i64>(elements, 1), "x.npy", refused);
    DEUTERON_CHECK(converted.has_value() != refused.has_errors());
    DEUTERON_CHECK(!converted || converted->size() == static_cast<size_t>(elements * bytes_of(dtype)));
  }
  Diagnostics refused;
  const auto labels = labels_of(*array, "x.npy", elements, 10, refused);
  DEUTERON_CHECK(labels.has_value() != refused.has_errors());
  for (const i64 label : labels.value_or(std::vector<i64>())) DEUTERON_CHECK(label >= 0 && label < 10);
  return 0;
}
