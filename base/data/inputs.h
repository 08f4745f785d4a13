// SPDX-License-Identifier: Apache-2.0
// The one reader of input data: what --calibrate, --input and --inputs take. Rules for the user:
// docs/command-line.md, "Input data".
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/data/array.h"
#include "base/data/image.h"
#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

// for inputs that stand in for data that nobody gave
inline constexpr uint32_t kMadeUpSeed = 20251121;

// What one input of a model or program takes, in the user's axes.
struct InputSpec {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  bool is_camera = false;  // a float input that the program takes as bytes: arrays of uint8 become
                           // numbers as pixels of an image do
  // The steps of an int8 or int16 input, where they are known. Either is taken then: steps as
  // arrays of that type, else numbers.
  std::optional<Type> steps = {};
  i64 bytes() const { return numel(shape) * bytes_of(dtype); }
};

// All samples of one input one after the other, row-major in the user's axes, in the dtype of the
// input; floats are finite.
struct InputSeries {
  DType dtype = DType::f32;
  Shape shape;
  i64 count = 0;
  // given as a series, so the outputs are written as one, also where count is 1
  bool series = false;
  std::vector<std::byte> bytes;

  i64 sample_bytes() const { return numel(shape) * bytes_of(dtype); }
  std::span<const std::byte> sample(i64 s) const {
    return std::span(bytes).subspan(static_cast<size_t>(s * sample_bytes()),
                                    static_cast<size_t>(sample_bytes()));
  }
};

struct InputOptions {
  std::string option = "--input";  // how messages call the option that `paths` came from
  ImageMap image;
};

// One path for each input, in order; or one `.npz` (or folder of them) for all, with arrays input0,
// input1, ... or of the inputs' own names. Every input has as many samples as the others. Without
// inputs there is one sample of nothing.
std::optional<std::vector<InputSeries>> read_inputs(std::span<const std::string> paths,
                                                    std::span<const InputSpec> specs,
                                                    const InputOptions& options,
                                                    Diagnostics& diagnostics);

// The same of arrays in memory, one for each input.
std::optional<std::vector<InputSeries>> convert_inputs(std::span<const Array> arrays,
                                                       std::span<const InputSpec> specs,
                                                       const InputOptions& options,
                                                       Diagnostics& diagnostics);

// How many samples of `input` an array of `file` shape holds, and whether it is a series:
//   file == input                                one sample
//   input[0] == 1 and file == input[1:]          one sample
//   file[1:] == input                            a series
//   input[0] == 1 and file[1:] == input[1:]      a series: the batch axis counts the samples
struct SampleCount {
  i64 count;
  bool series;
};
std::optional<SampleCount> samples_in(std::span<const i64> file, std::span<const i64> input);

// The elements of `array` as `dtype`, dense; every value must be representable, floats must be
// finite. For messages: element i is index i % per_sample of sample i / per_sample.
std::optional<std::vector<std::byte>> convert(const Array& array, DType dtype, i64 per_sample,
                                              const std::string& where, Diagnostics& diagnostics);

// samples[s][i] for float inputs; without inputs one sample of nothing.
std::vector<std::vector<std::vector<float>>> to_samples(std::span<const InputSeries> inputs);

}  // namespace deuteron
