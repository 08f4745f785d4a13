// SPDX-License-Identifier: Apache-2.0
// NumPy's arrays, as data, as labels and as inputs of a model. What is read has as many bytes as
// its shape says, and can be written and read again. Where the first byte is below 128, which no
// array begins with, it chooses a name instead: the three behind it choose the inputs, and the rest
// is a file of that name, or are the files of a folder (tests/fuzz/input_seeds.py).
#include <algorithm>

#include "base/check.h"
#include "base/data/inputs.h"
#include "base/data/labels.h"
#include "base/data/npy.h"
#include "frontends/pt2/test_archive.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/scratch_folder.h"

namespace {

using namespace deuteron;

void check_series(const std::optional<std::vector<InputSeries>>& series, const InputSpec& spec,
                  const Diagnostics& refused) {
  DEUTERON_CHECK(series.has_value() != refused.has_errors());
  if (!series) return;
  DEUTERON_CHECK(series->size() == 1 && series->front().dtype == spec.dtype &&
                 series->front().shape == spec.shape);
  const InputSeries& one = series->front();
  DEUTERON_CHECK(one.bytes.size() == static_cast<size_t>(one.count * one.sample_bytes()));
  if (spec.dtype == DType::f32)
    DEUTERON_CHECK(to_samples(*series).size() == static_cast<size_t>(one.count));
}

// The array for an input of its own shape, of one sample of a series, and of one that it may not
// fit; the bytes as they are for each.
void read_as_inputs(const Array& array, std::span<const uint8_t> bytes) {
  const test::MemoryFile file(bytes.data(), bytes.size());
  std::vector<Shape> shapes = {array.shape, {2, 3}};
  if (!array.shape.empty()) {
    shapes.push_back({array.shape.begin() + 1, array.shape.end()});
    shapes.push_back(array.shape);
    shapes.back()[0] = 1;
  }
  for (const Shape& shape : shapes)
    for (const auto& [dtype, is_camera] : {std::pair{DType::f32, false},
                                           {DType::f32, true},
                                           {DType::s8, false},
                                           {DType::s64, false}}) {
      const InputSpec spec{"x", dtype, shape, is_camera};
      Diagnostics refused, refused_file;
      check_series(convert_inputs({&array, 1}, {&spec, 1}, {}, refused), spec, refused);
      const std::string path = file.path();
      check_series(read_inputs({&path, 1}, {&spec, 1}, {}, refused_file), spec, refused_file);
    }
}

constexpr size_t kChoices = 4;  // bytes before the file

std::vector<InputSpec> chosen_inputs(const uint8_t* choice) {
  static constexpr DType kTypes[] = {DType::f32,  DType::u8,  DType::s8,  DType::s64,
                                     DType::bf16, DType::f64, DType::f16, DType::b8};
  static const Shape kShapes[] = {{2, 3},       {1, 2, 3}, {4},          {},
                                  {1, 2, 2, 3}, {3, 2, 2}, {1, 4, 2, 2}, {2, 2}};
  const InputSpec spec{"x", kTypes[choice[1] % 8], kShapes[choice[2] % 8], (choice[1] & 8) != 0};
  return std::vector<InputSpec>(choice[3] & 1 ? 2 : 1, spec);
}

// The map of an image's pixels; the longer lists fit three channels.
ImageMap chosen_map(uint8_t choice) {
  if (choice & 2) return {2, {0.5f}, {0.25f}};
  if (choice & 4) return {1, {1, 2, 3}, {4}};
  return {};
}

// Of that ending, alone or in a folder: twice, cut in two, or beside a file that is none.
std::string put_files(const test::ScratchFolder& folder, uint8_t choice, std::string_view file) {
  static const std::string kEndings[] = {".npy", ".npz", ".bin", ".png",
                                         ".JPG", ".bmp", "",     ".txt"};
  const std::string& ending = kEndings[choice % 8];
  std::string archive;
  if (choice & 64)
    archive =
        pt2::stored_zip({{"input0.npy", std::string(file)}, {"input1.npy", std::string(file)}}),
    file = archive;
  const std::string first = folder.add("b" + ending, file);
  switch (choice >> 3 & 7) {
    case 1:
      return folder.path();
    case 2:
      folder.add("a" + ending, file);
      return folder.path();
    case 3:
      folder.add("b" + ending, file.substr(0, file.size() / 2)),
          folder.add("c.npy", file.substr(file.size() / 2));
      return folder.path();
    case 4:
      folder.add("others", file), folder.add(".hidden", file),
          std::filesystem::create_directory(folder.path() + "/inside");
      return folder.path();
    default:
      return first;
  }
}

void read_named_files(const uint8_t* data, size_t size) {
  if (size < kChoices) return;
  const std::vector<InputSpec> specs = chosen_inputs(data);
  const test::ScratchFolder folder;
  const std::string_view file(reinterpret_cast<const char*>(data) + kChoices, size - kChoices);
  const std::vector<std::string> paths(data[3] & 8 ? 2 : 1, put_files(folder, data[0], file));
  Diagnostics refused;
  const auto series = read_inputs(paths, specs, {"--input", chosen_map(data[3])}, refused);
  DEUTERON_CHECK(series.has_value() != refused.has_errors());
  if (!series) return;
  DEUTERON_CHECK(series->size() == specs.size());
  for (const InputSeries& one : *series) {
    DEUTERON_CHECK(one.dtype == specs[0].dtype && one.shape == specs[0].shape &&
                   one.count == series->front().count && one.count > 0);
    DEUTERON_CHECK(one.bytes.size() == static_cast<size_t>(one.count * one.sample_bytes()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] < 128) return read_named_files(data, size), 0;
  Diagnostics diagnostics;
  const std::optional<Array> array =
      parse_npy(std::as_bytes(std::span(data, size)), "x.npy", diagnostics);
  DEUTERON_CHECK(array.has_value() != diagnostics.has_errors());
  if (!array) return 0;
  const size_t bytes =
      static_cast<size_t>(array->elements()) * static_cast<size_t>(array->type.bytes);
  DEUTERON_CHECK(array->bytes.size() == bytes);
  const std::vector<uint8_t> written = npy_bytes(array->type, array->shape, array->bytes);
  const std::optional<Array> again =
      parse_npy(std::as_bytes(std::span(written)), "again.npy", diagnostics);
  DEUTERON_CHECK(again && again->shape == array->shape && again->bytes == array->bytes);

  const i64 elements = array->elements();
  for (const DType dtype : {DType::f32, DType::s8, DType::s64, DType::b8}) {
    Diagnostics refused;
    const auto converted = convert(*array, dtype, std::max<i64>(elements, 1), "x.npy", refused);
    DEUTERON_CHECK(converted.has_value() != refused.has_errors());
    DEUTERON_CHECK(!converted ||
                   converted->size() == static_cast<size_t>(elements * bytes_of(dtype)));
  }
  Diagnostics refused;
  const auto labels = labels_of(*array, "x.npy", elements, 10, refused);
  DEUTERON_CHECK(labels.has_value() != refused.has_errors());
  if (elements <= 4096) read_as_inputs(*array, std::span(data, size));
  for (const i64 label : labels.value_or(std::vector<i64>()))
    DEUTERON_CHECK(label >= 0 && label < 10);
  return 0;
}
