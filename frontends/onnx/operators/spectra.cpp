// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of a known length, as products with constant matrices; windows and mel
// weights, which are constants.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/pt2/operators/waves.h"

namespace deuteron::onnx {
namespace {

constexpr i64 kMostTransform = i64{1} << 22;  // elements of a transform's matrix
constexpr i64 kMostWindow = i64{1} << 24;     // float32 holds these integers
const double kPi = std::acos(-1.0);

// A transform of `length` elements: of `in` that there are `used`, each of `parts` numbers, become
// `out` of `results` numbers.
struct Transform {
  i64 length = 1, in = 1, used = 1, parts = 1, out = 1, results = 2;
  bool inverse = false;
};

// y[k] = sum over t of x[t] exp(-+ i angle), numbers of one element side by side: [out * results,
// in * parts].
std::vector<float> matrix_of(const Transform& f) {
  std::vector<float> m(static_cast<size_t>(f.out * f.results * f.in * f.parts), 0.0f);
  const double scale = f.inverse ? 1 / static_cast<double>(f.length) : 1,
               turn = f.inverse ? scale : -scale;
  for (i64 k = 0; k < f.out; ++k)
    for (i64 t = 0; t < f.used; ++t) {
      const double re = scale * cosine_of(k, t, f.length),
                   im = turn * sine_of(k, t, f.length) + 0.0;
      // A real result is that of a spectrum whose second half is the conjugate of its first: those
      // in the middle count twice.
      const double twice = f.results == 2 || t == 0 || 2 * t == f.length ? 1 : 2;
      float* row = m.data() + k * f.results * f.in * f.parts + t * f.parts;
      row[0] = static_cast<float>(twice * re);
      if (f.parts == 2) row[1] = static_cast<float>(-twice * im);
      if (f.results == 1) continue;
      row += f.in * f.parts;
      row[0] = static_cast<float>(im);
      if (f.parts == 2) row[1] = static_cast<float>(re);
    }
  return m;
}

bool may_transform(Call& c, i64 rows, i64 columns) {
  c.require(!c.ok() || (rows <= kMostTransform && columns <= kMostTransform &&
                        rows * columns <= kMostTransform),
            "the matrix of the transform has too many elements",
            fmt::format("{} x {}", rows, columns), std::to_string(kMostTransform), "onnx.dft.size");
  return c.ok() && c.may_make(rows * columns);
}

i64 length_of(Call& c, size_t k, std::string_view what, i64 otherwise) {
  if (!c.ok() || !c.has(k)) return otherwise;
  const std::vector<i64> given = c.integers_of(k, what);
  c.require(!c.ok() || (given.size() == 1 && given[0] >= 1 && given[0] <= kMostTransform),
            fmt::format("has a {} out of range", what),
            given.empty() ? "none" : std::to_string(given[0]), fmt::format("1..{}", kMostTransform),
            "onnx.dft.length");
  return c.ok() ? given[0] : otherwise;
}

// Along one axis and the last one, which holds an element's one or two numbers.
Operand transformed(Call& c, const Operand& x, i64 axis, const Transform& f) {
  if (!may_transform(c, f.out * f.results, f.in * f.parts)) return {};
  const i64 rank = c.rank(x);
  const Operand matrix = c.numbers("matrix", {f.out * f.results, f.in * f.parts}, matrix_of(f));
  Axes order, back(static_cast<size_t>(rank));
  Shape outer;
  for (i64 k = 0; k < rank - 1; ++k)
    if (k != axis) order.push_back(k), outer.push_back(c.shape(x)[k]);
  order.insert(order.end(), {axis, rank - 1});
  for (i64 k = 0; k < rank; ++k) back[static_cast<size_t>(order[static_cast<size_t>(k)])] = k;
  const bool in_order = axis == rank - 2;
  Shape flat = outer, split = outer;
  flat.push_back(f.in * f.parts);
  split.insert(split.end(), {f.out, f.results});
  const Operand rows = view(c, in_order ? x : permuted(c, x, order, "ordered"), flat, "rows");
  const Operand y = fully_connected(c, rows, matrix, {}, "transform");
  const Operand parts = view(c, y, split, in_order ? "" : "parts");
  return in_order ? parts : permuted(c, parts, back, "");
}

}  // namespace

// Up to opset 19 the axis is an attribute.
static void import_dft(Call& c) {
  const Operand x = c.operand(0);
  const bool half = c.integer("onesided", 0) != 0;
  Transform f;
  f.inverse = c.integer("inverse", 0) != 0;
  i64 axis = c.opset() < 20 ? c.integer("axis", 1) : -2;
  if (c.opset() >= 20 && c.has(2)) {
    const std::vector<i64> given = c.integers_of(2, "axis");
    c.require(!c.ok() || given.size() == 1, "has no single axis", std::to_string(given.size()), "1",
              "onnx.operand.axis");
    if (c.ok()) axis = given[0];
  }
  const i64 rank = c.rank(x);
  axis = c.axis(axis, rank);
  c.require(!c.ok() || (rank >= 2 && axis != rank - 1),
            "works along the axis of real and imaginary parts", std::to_string(axis), "",
            "onnx.operand.axis");
  if (!c.ok()) return;
  f.in = c.shape(x)[axis], f.parts = c.shape(x)[rank - 1];
  c.require(f.parts == 1 || f.parts == 2, "has elements of other than one or two numbers",
            std::to_string(f.parts), "1, 2", "onnx.dft.parts");
  const bool to_real = f.inverse && half;
  f.length = length_of(c, 1, "length", to_real ? 2 * (f.in - 1) : f.in);
  c.require(!c.ok() || f.length >= 1, "has a length out of range", std::to_string(f.length), "1..",
            "onnx.dft.length");
  if (!c.ok()) return;
  f.used = std::min(f.in, to_real ? f.length / 2 + 1 : f.length);
  f.out = half && !f.inverse ? f.length / 2 + 1 : f.length;
  f.results = to_real ? 1 : 2;
  c.result(transformed(c, x, axis, f));
}

// A convolution of the signal, [n,l,1 or 2], with the windowed rows of the transform. torch exports
// [n,l].
static void import_stft(Call& c) {
  Operand x = c.operand(0);
  const i64 step = length_of(c, 1, "frame step", 1);
  if (const Shape flat = c.shape(x); flat.size() == 2) x = view(c, x, {flat[0], flat[1], 1}, "x");
  const Shape s = c.shape(x);
  c.require(!c.ok() || (s.size() == 3 && (s[2] == 1 || s[2] == 2)),
            "takes signals [n,l], [n,l,1] or [n,l,2]", to_text(s), "2 or 3 axes", "onnx.dft.parts");
  if (!c.ok()) return;
  std::vector<float> window;
  if (c.has(2)) {
    const auto known = c.known_numbers(c.operand(2));
    c.require(!c.ok() || (known && c.rank(c.operand(2)) == 1),
              "has a window that is computed from the model's inputs, or of several axes", "", "",
              "onnx.operand.constant");
    if (!c.ok()) return;
    window = *known;
  }
  const i64 length =
      length_of(c, 3, "frame length", window.empty() ? s[1] : static_cast<i64>(window.size()));
  const bool half = c.integer("onesided", 1) != 0;
  if (window.empty()) window.assign(static_cast<size_t>(length), 1.0f);
  c.require(!c.ok() || (length <= s[1] && static_cast<i64>(window.size()) == length),
            "has frames that fit neither window nor signal", std::to_string(length),
            fmt::format("{}, {}", window.size(), s[1]), "onnx.dft.length");
  c.require(!c.ok() || !half || s[2] == 1, "gives half of the spectrum of a complex signal", "2",
            "1", "onnx.dft.parts");
  if (!c.ok()) return;
  Transform f{length, length, length, s[2], half ? length / 2 + 1 : length};
  if (!may_transform(c, f.out * 2, length * f.parts)) return;
  const std::vector<float> matrix = matrix_of(f);
  std::vector<float> waves;  // [out * 2, parts, length]
  for (i64 k = 0; k < f.out * 2; ++k)
    for (i64 part = 0; part < f.parts; ++part)
      for (i64 t = 0; t < length; ++t)
        waves.push_back(matrix[static_cast<size_t>((k * length + t) * f.parts + part)] *
                        window[static_cast<size_t>(t)]);
  const Operand signal =
      f.parts == 1 ? view(c, x, {s[0], 1, s[1]}, "signal") : permuted(c, x, {0, 2, 1}, "signal");
  const Operand weight = c.numbers("waves", {f.out * 2, f.parts, length}, std::move(waves));
  const Operand spectrum = convolved_inside(c, signal, weight, {}, {step}, {1}, 1, "spectrum");
  if (!c.ok()) return;
  const i64 frames = c.shape(spectrum)[2];
  c.result(view(c, permuted(c, spectrum, {0, 2, 1}, "frames"), {s[0], frames, f.out, 2}, ""));
}

static void check_datatype(Call& c) {
  const Element said = static_cast<Element>(c.integer("output_datatype", 1));
  c.require(!c.ok() || dtype_of(said) == DType::f32,
            "makes elements of a type that is not supported", name_of(said), "FLOAT",
            "onnx.cast.type");
}

// a0 - a1 cos(x) + a2 cos(2 x); a periodic one leaves out its last element.
static void import_window(Call& c) {
  const std::vector<i64> size = c.integers_of(0, "size");
  const bool periodic = c.integer("periodic", 1) != 0;
  check_datatype(c);
  c.require(!c.ok() || (size.size() == 1 && size[0] >= 1 && size[0] <= kMostWindow),
            "the size is out of range", size.empty() ? "none" : std::to_string(size[0]),
            fmt::format("1..{}", kMostWindow), "onnx.constant.size");
  if (!c.ok() || !c.may_make(size[0])) return;
  const bool hann = c.op() == "HannWindow", blackman = c.op() == "BlackmanWindow";
  const double a0 = hann       ? 0.5
                    : blackman ? 0.42
                               : 25.0 / 46,
               a1 = hann || blackman ? 0.5 : 21.0 / 46, a2 = blackman ? 0.08 : 0;
  const double period = static_cast<double>(periodic ? size[0] : std::max<i64>(size[0] - 1, 1));
  std::vector<float> window;
  for (i64 k = 0; k < size[0]; ++k) {
    const double at = 2 * kPi * static_cast<double>(k) / period;
    window.push_back(static_cast<float>(a0 - a1 * std::cos(at) + a2 * std::cos(2 * at)));
  }
  c.result(c.numbers("", {size[0]}, std::move(window)));
}

// The spectrum's bins at which the bands of the mel scale begin: band k rises from bin k to k + 1
// and falls to k + 2.
static std::vector<i64> mel_bins(double bands, double length, double rate, double low,
                                 double high) {
  const auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
  const double first = mel(low), step = (mel(high) - first) / (bands + 2);
  std::vector<i64> bins;
  for (double k = 0; k < bands + 2; ++k) {
    const double hertz = 700 * std::expm1((k * step + first) / 2595 * std::log(10.0));
    bins.push_back(static_cast<i64>(std::floor((length + 1) * hertz / rate)));
  }
  return bins;
}

static void import_mel_weights(Call& c) {
  const double bands = c.number_of(0, "number of bands", 0), length = c.number_of(1, "length", 0),
               rate = c.number_of(2, "rate", 0);
  const double low = c.number_of(3, "lower edge", 0), high = c.number_of(4, "upper edge", 0);
  check_datatype(c);
  const auto in_range = [](double v) { return v >= 1 && v <= static_cast<double>(kMostWindow); };
  c.require(!c.ok() || (c.has(4) && in_range(bands) && in_range(length) && in_range(rate) &&
                        low >= 0 && low < high && high <= rate / 2),
            "has bands out of range",
            fmt::format("{} of {} between {} and {} of {} Hz", bands, length, low, high, rate),
            "0 <= low < high <= rate / 2", "onnx.constant.size");
  if (!c.ok()) return;
  const i64 rows = static_cast<i64>(length) / 2 + 1, columns = static_cast<i64>(bands);
  if (!c.may_make(rows * columns)) return;
  const std::vector<i64> bins = mel_bins(bands, length, rate, low, high);
  std::vector<float> weights(static_cast<size_t>(rows * columns), 0.0f);
  for (i64 k = 0; k < columns; ++k) {
    const i64 first = bins[static_cast<size_t>(k)], top = bins[static_cast<size_t>(k) + 1],
              last = bins[static_cast<size_t>(k) + 2];
    const auto put = [&](i64 row, double v) {
      if (row >= 0 && row < rows)
        weights[static_cast<size_t>(row * columns + k)] = static_cast<float>(v);
    };
    if (first == top) put(top, 1);
    for (i64 row = first; first < top && row <= top; ++row)
      put(row, static_cast<double>(row - first) / static_cast<double>(top - first));
    for (i64 row = top; row < last; ++row)
      put(row, static_cast<double>(last - row) / static_cast<double>(last - top));
  }
  c.result(c.numbers("", {rows, columns}, std::move(weights)));
}

static constexpr ImportRow kSpectraRows[] = {
    {"BlackmanWindow", import_window},       {"DFT", import_dft},
    {"HammingWindow", import_window},        {"HannWindow", import_window},
    {"MelWeightMatrix", import_mel_weights}, {"STFT", import_stft},
};
ImportRows spectra_rows() { return kSpectraRows; }

}  // namespace deuteron::onnx
