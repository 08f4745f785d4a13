// NumPy's arrays, as data, as labels and as inputs of a model. What is read has as many bytes as its shape says, and can be written and
// read again.
#include <algorithm>

#include "base/check.h"
#include "data/inputs.h"
#include "data/labels.h"
#include "data/npy.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace deuteron;

void check_series(const std::optional<std::vector<InputSeries>>& series, const InputSpec& spec, const Diagnostics& refused) {
  DEUTERON_CHECK(series.has_value() != refused.has_errors());
  if (!series) return;
  DEUTERON_CHECK(series->size() == 1 && series->front().dtype == spec.dtype && series->front().shape == spec.shape);
  const InputSeries& one = series->front();
  DEUTERON_CHECK(one.bytes.size() == static_cast<size_t>(one.count * one.sample_bytes()));
  if (spec.dtype == DType::f32) DEUTERON_CHECK(to_samples(*series).size() == static_cast<size_t>(one.count));
}

// The array for an input of its own shape, of one sample of a series, and of one that it may not fit; the bytes as they are for each.
void read_as_inputs(const Array& array, std::span<const uint8_t> bytes) {
  const test::MemoryFile file(bytes.data(), bytes.size());
  std::vector<Shape> shapes = {array.shape, {2, 3}};
  if (!array.shape.empty()) {
    shapes.push_back({array.shape.begin() + 1, array.shape.end()});
    shapes.push_back(array.shape);
    shapes.back()[0] = 1;
  }
  for (const Shape& shape : shapes)
    for (const auto& [dtype, is_camera] : {std::pair{DType::f32, false}, {DType::f32, true}, {DType::s8, false}, {DType::s64, false}}) {
      const InputSpec spec{"x", dtype, shape, is_camera};
      Diagnostics refused, refused_file;
      check_series(convert_inputs({&array, 1}, {&spec, 1}, {}, refused), spec, refused);
      const std::string path = file.path();
      check_series(read_inputs({&path, 1}, {&spec, 1}, {}, refused_file), spec, refused_file);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
  if (elements <= 4096) read_as_inputs(*array, std::span(data, size));
  for (const i64 label : labels.value_or(std::vector<i64>())) DEUTERON_CHECK(label >= 0 && label < 10);
  return 0;
}
