// SPDX-License-Identifier: Apache-2.0
// Spectra of real rows, and what becomes of their complex numbers.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontends/tflite/operators/import_table.h"

namespace deuteron::tflite {
namespace {

constexpr i64 kMostWeights = i64{1} << 22;

// Row k of the transform of `length` numbers, of which there are `columns`, the rest zeros.
std::vector<float> waves(i64 length, i64 columns, double (*wave)(double), double sign) {
  std::vector<float> weights;
  for (i64 k = 0; k <= length / 2; ++k)
    for (i64 n = 0; n < columns; ++n)
      weights.push_back(n < length
                            ? static_cast<float>(sign * wave(2 * std::numbers::pi *
                                                             static_cast<double>(k * n % length) /
                                                             static_cast<double>(length)))
                            : 0.0f);
  return weights;
}

}  // namespace

// Of one row each: a fully connected layer for each part.
static void import_rfft2d(Call& c) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const std::vector<i64> length = c.integers(1);
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  c.require(
      length.size() == 2 && shape.size() >= 2 && length[0] == 1 && shape[shape.size() - 2] == 1,
      "transforms more than one row", to_text(length), "1,..", "tflite.rfft.rows");
  if (!c.ok()) return;
  const i64 columns = shape.back(), bins = length[1] / 2 + 1;
  c.require(length[1] >= 1, "transforms rows of no numbers", std::to_string(length[1]), "1..",
            "tflite.rfft.length");
  c.require(length[1] <= kMostWeights && bins * columns <= kMostWeights,
            "transforms too many numbers at once", fmt::format("{} x {}", bins, columns),
            std::to_string(kMostWeights), "tflite.rfft.length");
  if (!c.ok()) return;
  const auto part = [&](const char* name, double (*wave)(double), double sign) {
    const Type type{DType::f32, {bins, columns}, {}};
    const ValueId weight = c.constant(fmt::format("{}_waves", name), type,
                                      constant_of(waves(length[1], columns, wave, sign)));
    return c.add(Linear{}, {x, weight}, name);
  };
  c.complex_result({part("real", std::cos, 1), part("imaginary", std::sin, -1)});
}

static void import_complex_abs(Call& c) {
  c.takes(1, 1);
  const Call::Complex z = c.complex(0);
  const auto square = [&](ValueId v, const char* name) {
    return c.add(Unary{UnaryFn::pow, 2}, {v}, name);
  };
  const ValueId sum = c.add(
      Add{}, {square(z.real, "real_squared"), square(z.imaginary, "imaginary_squared")}, "power");
  c.result(c.add(Unary{UnaryFn::sqrt}, {sum}));
}
static void import_real(Call& c) {
  c.takes(1, 1);
  c.result(c.complex(0).real);
}
static void import_imag(Call& c) {
  c.takes(1, 1);
  c.result(c.complex(0).imaginary);
}

static constexpr ImportRow kSpectraRows[] = {
    {BuiltinOperator::COMPLEX_ABS, import_complex_abs, Int16::taken},
    {BuiltinOperator::IMAG, import_imag, Int16::taken},
    {BuiltinOperator::REAL, import_real, Int16::taken},
    {BuiltinOperator::RFFT2D, import_rfft2d, Int16::taken},
};
ImportRows spectra_rows() { return kSpectraRows; }

}  // namespace deuteron::tflite
