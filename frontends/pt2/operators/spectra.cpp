// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of a fixed length: products with constant matrices. The short-time transform
// is a convolution with windowed sines and cosines, and back a transposed one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/waves.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

using Complex = Call::Complex;

constexpr i64 kMostTransform = i64{1} << 22;  // elements of a transform's matrix

bool require_transform(Call& c, i64 rows, i64 columns) {
  c.require(!c.ok() || rows * columns <= kMostTransform,
            "the matrix of the transform has too many elements",
            fmt::format("{} x {}", rows, columns), std::to_string(kMostTransform), "pt2.fft.size");
  return c.ok();
}

float cosine(i64 k, i64 t, i64 n, double scale) {
  return static_cast<float>(scale * cosine_of(k, t, n));
}
// Never -0.
float sine(i64 k, i64 t, i64 n, double scale) {
  return static_cast<float>(scale * sine_of(k, t, n) + 0.0);
}

// A result of the transform: real parts, then imaginary ones.
Complex split_parts(Call& c, ValueId both, i64 axis) {
  if (!c.ok()) return {};
  const i64 half = c.shape(both)[axis] / 2;
  return {c.add(Slice{axis, 0, half, 1}, {both}, "real"),
          c.add(Slice{axis, half, half, 1}, {both}, "imaginary")};
}

ValueId joined_parts(Call& c, Complex z, i64 axis) {
  return c.ok() ? c.add(Concat{axis}, {z.re, z.im}, "parts") : -1;
}

// y[k] = scale * sum over t of x[t] exp(-+ i angle): the first `out` of n frequencies. What x lacks
// of n elements is 0.
Complex transformed(Call& c, Complex x, i64 axis, i64 n, i64 out, bool inverse, double scale) {
  if (!c.ok()) return {};
  const i64 extent = c.shape(x.re)[axis], used = std::min(extent, n);
  const bool is_real = x.im < 0;
  if (!require_transform(c, 2 * out, (is_real ? 1 : 2) * extent)) return {};
  const double turn = inverse ? -scale : scale;
  Weights w(2 * out, is_real ? extent : 2 * extent);
  for (i64 k = 0; k < out; ++k)
    for (i64 t = 0; t < used; ++t) {
      w.at(k, t) = cosine(k, t, n, scale);
      w.at(out + k, t) = sine(k, t, n, -turn);
      if (is_real) continue;
      w.at(k, extent + t) = sine(k, t, n, turn);
      w.at(out + k, extent + t) = cosine(k, t, n, scale);
    }
  return split_parts(
      c, weighted_along(c, is_real ? x.re : joined_parts(c, x, axis), axis, w, "transform"), axis);
}

// The real signal of n elements whose spectrum's first half is x.
ValueId real_signal(Call& c, Complex x, i64 axis, i64 n, double scale) {
  if (!c.ok()) return -1;
  const i64 extent = c.shape(x.re)[axis], used = std::min(extent, n / 2 + 1);
  const i64 parts = x.im < 0 ? 1 : 2;
  if (!require_transform(c, n, parts * extent)) return -1;
  Weights w(n, parts * extent);
  for (i64 t = 0; t < n; ++t)
    for (i64 k = 0; k < used; ++k) {
      const double twice = k == 0 || 2 * k == n ? scale : 2 * scale;
      w.at(t, k) = cosine(k, t, n, twice);
      if (parts == 2) w.at(t, extent + k) = sine(k, t, n, -twice);
    }
  return weighted_along(c, x.im < 0 ? x.re : joined_parts(c, x, axis), axis, w, "signal");
}

// The factor of a transform of n elements: "backward" divides on the way back.
double scale_of(Call& c, i64 n, bool inverse) {
  const std::string norm = c.has("norm") ? c.text("norm") : "backward";
  c.require(!c.ok() || norm == "backward" || norm == "ortho" || norm == "forward",
            "the norm is not known", norm, "backward, ortho, forward", "pt2.fft.norm");
  if (norm == "ortho") return 1 / std::sqrt(static_cast<double>(n));
  return (norm == "backward") == inverse ? 1.0 / static_cast<double>(n) : 1.0;
}

bool is_inverse(Call& c) { return c.operator_name().find("_i") != std::string_view::npos; }

i64 length_of(Call& c, i64 n) {
  c.require(!c.ok() || (n >= 1 && n <= kMostTransform),
            "the length of the transform is out of range", std::to_string(n), "1..",
            "pt2.fft.length");
  return std::max<i64>(n, 1);
}

// The axes of a transform over several, and how many elements each has.
struct TransformAxes {
  std::vector<i64> axes, lengths;
};
TransformAxes read_axes(Call& c, const Shape& x, bool half) {
  TransformAxes t;
  const i64 rank = static_cast<i64>(x.size());
  std::vector<i64> sizes;
  if (c.has("s")) sizes = c.integers("s");
  if (c.has("dim")) t.axes = c.axes("dim", rank);
  if (t.axes.empty())
    for (i64 k = sizes.empty() ? 0 : rank - static_cast<i64>(sizes.size()); k < rank; ++k)
      t.axes.push_back(k);
  c.require(!c.ok() || (rank > 0 && (sizes.empty() || sizes.size() == t.axes.size())),
            "has another number of sizes than axes", std::to_string(sizes.size()),
            std::to_string(t.axes.size()), "pt2.fft.axes");
  for (size_t k = 0; k < t.axes.size() && c.ok(); ++k) {
    const i64 own = half && k + 1 == t.axes.size() ? 2 * (x[t.axes[k]] - 1) : x[t.axes[k]];
    t.lengths.push_back(length_of(c, sizes.empty() || sizes[k] == -1 ? own : sizes[k]));
  }
  return t;
}

}  // namespace

// fft, ifft, rfft: along one axis
static void import_fft(Call& c) {
  const Complex x = c.complex_tensor("self", true);
  const i64 axis = c.axis("dim", c.rank(x.re));
  require_axes(c, x.re);
  if (!c.ok()) return;
  const i64 n = length_of(c, c.has("n") ? c.integer("n") : c.shape(x.re)[axis]),
            out = c.operator_name() == "fft_rfft" ? n / 2 + 1 : n;
  c.complex_result(0,
                   transformed(c, x, axis, n, out, is_inverse(c), scale_of(c, n, is_inverse(c))));
}

static void import_irfft(Call& c) {
  const Complex x = c.complex_tensor("self", true);
  const i64 axis = c.axis("dim", c.rank(x.re));
  require_axes(c, x.re);
  if (!c.ok()) return;
  const i64 n = length_of(c, c.has("n") ? c.integer("n") : 2 * (c.shape(x.re)[axis] - 1));
  c.result(real_signal(c, x, axis, n, scale_of(c, n, true)));
}

// fft2, fftn, rfft2, rfftn and their inverses with complex results: one axis after the other, from
// the last.
static void import_fftn(Call& c) {
  Complex x = c.complex_tensor("self", true);
  if (!c.ok()) return;
  const bool half = c.operator_name().starts_with("fft_rfft"), inverse = is_inverse(c);
  const TransformAxes t = read_axes(c, c.shape(x.re), false);
  for (size_t k = t.axes.size(); k-- > 0 && c.ok();) {
    const i64 n = t.lengths[k], out = half && k + 1 == t.axes.size() ? n / 2 + 1 : n;
    x = transformed(c, x, t.axes[k], n, out, inverse, scale_of(c, n, inverse));
  }
  c.complex_result(0, x);
}

static void import_irfftn(Call& c) {
  Complex x = c.complex_tensor("self", true);
  if (!c.ok()) return;
  const TransformAxes t = read_axes(c, c.shape(x.re), true);
  for (size_t k = 0; k + 1 < t.axes.size() && c.ok(); ++k)
    x = transformed(c, x, t.axes[k], t.lengths[k], t.lengths[k], true,
                    scale_of(c, t.lengths[k], true));
  if (c.ok())
    c.result(
        real_signal(c, x, t.axes.back(), t.lengths.back(), scale_of(c, t.lengths.back(), true)));
}

namespace {

// The factor of one axis of _fft_r2c and its relatives: nothing, 1 / sqrt(n), 1 / n.
double scale_by_mode(Call& c, i64 n) {
  const i64 mode = c.integer("normalization");
  c.require(!c.ok() || (mode >= 0 && mode <= 2), "the normalization is not known",
            std::to_string(mode), "0..2", "pt2.fft.norm");
  return mode == 0   ? 1.0
         : mode == 1 ? 1 / std::sqrt(static_cast<double>(n))
                     : 1.0 / static_cast<double>(n);
}

}  // namespace

// What decompositions leave: real to complex, complex to complex, complex to real.
static void import_fft_r2c(Call& c) {
  Complex x{c.tensor("self"), -1};
  require_axes(c, x.re);
  const std::vector<i64> axes = c.axes("dim", c.rank(x.re));
  const bool half = c.boolean("onesided");
  for (size_t k = axes.size(); k-- > 0 && c.ok();) {
    const i64 n = c.shape(x.re)[axes[k]];
    x = transformed(c, x, axes[k], n, half && k + 1 == axes.size() ? n / 2 + 1 : n, false,
                    scale_by_mode(c, n));
  }
  c.complex_result(0, x);
}

static void import_fft_c2c(Call& c) {
  Complex x = c.complex_tensor("self");
  require_axes(c, x.re);
  const bool forward = c.boolean("forward");
  for (const i64 axis : c.axes("dim", c.rank(x.re))) {
    if (!c.ok()) return;
    const i64 n = c.shape(x.re)[axis];
    x = transformed(c, x, axis, n, n, !forward, scale_by_mode(c, n));
  }
  c.complex_result(0, x);
}

static void import_fft_c2r(Call& c) {
  Complex x = c.complex_tensor("self");
  require_axes(c, x.re);
  const std::vector<i64> axes = c.axes("dim", c.rank(x.re));
  const i64 last = length_of(c, c.integer("last_dim_size"));
  c.require(!c.ok() || !axes.empty(), "has no axis", "0", "1", "pt2.fft.axes");
  for (size_t k = 0; k + 1 < axes.size() && c.ok(); ++k) {
    const i64 n = c.shape(x.re)[axes[k]];
    x = transformed(c, x, axes[k], n, n, true, scale_by_mode(c, n));
  }
  if (c.ok()) c.result(real_signal(c, x, axes.back(), last, scale_by_mode(c, last)));
}

namespace {

// What stft and istft have in common.
struct Frames {
  i64 length, hop, frequencies;
  std::vector<float> window;  // as long as a frame
  i64 first = 0, used = 0;    // where the window is not 0
  double scale = 1;
};

Frames read_frames(Call& c) {
  Frames f{length_of(c, c.integer("n_fft")), 0, 0, {}};
  f.hop = c.has("hop_length") ? c.integer("hop_length") : f.length / 4;
  const i64 width = c.has("win_length") ? c.integer("win_length") : f.length;
  const bool half = !c.has("onesided") || c.boolean("onesided");
  f.frequencies = half ? f.length / 2 + 1 : f.length;
  c.require(!c.ok() || (f.hop >= 1 && f.hop <= kMostTransform && width >= 1 && width <= f.length),
            "the frames are out of range", fmt::format("hop {}, window {}", f.hop, width),
            fmt::format("1.., 1..{}", f.length), "pt2.stft.frames");
  if (!c.ok()) return f;
  std::vector<float> given(static_cast<size_t>(width), 1.0f);
  if (c.has("window")) {
    const auto known = c.known_numbers(c.tensor("window"));
    c.require(known && known->size() == given.size(),
              "the window is computed, or has another length", "", std::to_string(width),
              "pt2.stft.window");
    if (!c.ok()) return f;
    given = *known;
  }
  const i64 left = (f.length - width) / 2;
  f.window.assign(static_cast<size_t>(f.length), 0.0f);
  std::copy(given.begin(), given.end(), f.window.begin() + left);
  const auto is_there = [](float v) { return v != 0; };
  const auto begin = std::find_if(f.window.begin(), f.window.end(), is_there);
  c.require(begin != f.window.end(), "the window is 0 everywhere", "", "", "pt2.stft.window");
  if (!c.ok()) return f;
  f.first = begin - f.window.begin();
  f.used = std::find_if(f.window.rbegin(), f.window.rend(), is_there).base() - begin;
  f.scale = c.has("normalized") && c.boolean("normalized")
                ? 1 / std::sqrt(static_cast<double>(f.length))
                : 1.0;
  return f;
}

ValueId with_batch(Call& c, ValueId x, i64 rank) {
  if (!c.ok() || c.rank(x) == rank) return x;
  Shape s = c.shape(x);
  s.insert(s.begin(), 1);
  return c.reshape(x, std::move(s), "batch");
}

ValueId without_batch(Call& c, ValueId x, bool batched, std::string_view suffix) {
  if (!c.ok() || batched) return x;
  const Shape s = c.shape(x);
  return c.reshape(x, {s.begin() + 1, s.end()}, suffix);
}

}  // namespace

// [n,l] or [l] becomes [n,f,t] or [f,t]. What is padded, torch has padded before.
static void import_stft(Call& c) {
  const ValueId signal = c.tensor("self");
  const Frames f = read_frames(c);
  c.require(!c.ok() || c.rank(signal) == 1 || c.rank(signal) == 2, "takes signals, [n,l] or [l]",
            std::to_string(c.rank(signal)), "1..2", "pt2.stft.rank");
  if (!c.ok() || !require_transform(c, 2 * f.frequencies, f.used)) return;
  const bool batched = c.rank(signal) == 2;
  ValueId x = with_batch(c, signal, 2);
  const i64 n = c.shape(x)[0], length = c.shape(x)[1], frames = (length - f.length) / f.hop + 1;
  c.require(length >= f.length, "the signal is shorter than a frame", std::to_string(length),
            std::to_string(f.length), "pt2.stft.frames");
  if (!c.ok() || !c.may_make(2 * f.frequencies * f.used)) return;
  const i64 seen = (frames - 1) * f.hop + f.used;
  if (seen != length) x = c.add(Slice{1, f.first, seen, 1}, {x}, "seen");
  std::vector<float> waves;
  for (i64 part = 0; part < 2; ++part)
    for (i64 k = 0; k < f.frequencies; ++k)
      for (i64 t = f.first; t < f.first + f.used; ++t) {
        const double scale = f.scale * f.window[static_cast<size_t>(t)];
        waves.push_back(part == 0 ? cosine(k, t, f.length, scale) : sine(k, t, f.length, -scale));
      }
  Conv2d op;
  op.stride = {f.hop, 1};
  const ValueId weight = c.constant("waves", {2 * f.frequencies, f.used, 1, 1}, std::move(waves));
  const ValueId both =
      c.reshape(c.add(op, {c.reshape(x, {n, seen, 1, 1}, "image"), weight}, "spectrum"),
                {n, frames, 2 * f.frequencies}, "spectrum");
  Complex z = split_parts(c, c.permute(both, {0, 2, 1}, "frequencies"), 1);
  z = {without_batch(c, z.re, batched, "real"), without_batch(c, z.im, batched, "imaginary")};
  if (c.has("return_complex") && c.boolean("return_complex")) return c.complex_result(0, z);
  if (!c.ok()) return;
  Shape pair = c.shape(z.re);
  pair.push_back(1);
  c.result(c.add(Concat{static_cast<i64>(pair.size()) - 1},
                 {c.reshape(z.re, pair, "real"), c.reshape(z.im, pair, "imaginary")}));
}

// Frames are windowed again, added where they overlap, and divided by the sum of the squared
// windows.
static void import_istft(Call& c) {
  Complex z = c.complex_tensor("self");
  const Frames f = read_frames(c);
  const bool center = c.boolean("center"), half = f.frequencies != f.length;
  c.require(!c.has("return_complex") || !c.boolean("return_complex"), "makes a complex signal", "",
            "", "pt2.stft.complex");
  const i64 rank = c.rank(z.re);
  c.require(!c.ok() || ((rank == 2 || rank == 3) && c.shape(z.re)[rank - 2] == f.frequencies),
            "takes spectra, [n,f,t] or [f,t]", c.ok() ? to_text(c.shape(z.re)) : "",
            std::to_string(f.frequencies), "pt2.stft.rank");
  if (!c.ok() || !require_transform(c, f.length, 2 * f.frequencies) ||
      !c.may_make(f.length * 2 * f.frequencies))
    return;
  const bool batched = rank == 3;
  z = {with_batch(c, z.re, 3), with_batch(c, z.im, 3)};
  const i64 n = c.shape(z.re)[0], frames = c.shape(z.re)[2],
            whole = (frames - 1) * f.hop + f.length;
  if (!c.may_make(whole)) return;
  std::vector<float> waves;
  for (i64 t = 0; t < f.length; ++t)
    for (i64 part = 0; part < 2; ++part)
      for (i64 k = 0; k < f.frequencies; ++k) {
        const bool alone = !half || k == 0 || 2 * k == f.length;
        const double scale = (alone ? 1.0 : 2.0) / static_cast<double>(f.length) / f.scale *
                             f.window[static_cast<size_t>(t)];
        waves.push_back(part == 0 ? cosine(k, t, f.length, scale) : sine(k, t, f.length, -scale));
      }
  std::vector<double> squares(static_cast<size_t>(whole), 0.0);
  for (i64 frame = 0; frame < frames; ++frame)
    for (i64 t = 0; t < f.length; ++t)
      squares[frame * f.hop + t] += std::pow(f.window[static_cast<size_t>(t)], 2);
  const i64 start = center ? f.length / 2 : 0;
  const i64 wanted = c.has("length") ? c.integer("length") : whole - 2 * start,
            count = std::min(wanted, whole - start);
  c.require(count >= 1, "leaves nothing of the signal", std::to_string(count), "1",
            "pt2.stft.length");
  if (!c.ok()) return;
  std::vector<float> factors;
  for (i64 t = start; t < start + count; ++t) factors.push_back(static_cast<float>(1 / squares[t]));
  c.require(std::all_of(factors.begin(), factors.end(), [](float v) { return v < 1e11f; }),
            "the windows do not cover the signal", "", "", "pt2.stft.window");
  ConvTranspose2d op;
  op.stride = {f.hop, 1};
  const ValueId parts = c.permute(joined_parts(c, z, 1), {0, 2, 1}, "frames");
  const ValueId weight = c.constant("waves", {1, f.length, 1, 2 * f.frequencies}, std::move(waves));
  ValueId y =
      c.add(op, {c.reshape(parts, {n, frames, 1, 2 * f.frequencies}, "image"), weight}, "sums");
  y = c.reshape(y, {n, whole}, "sums");
  if (count != whole) y = c.ok() ? c.add(Slice{1, start, count, 1}, {y}, "signal") : -1;
  y = product(c, y, c.constant("factors", {1, count}, std::move(factors)), "scaled");
  if (wanted > count) {
    Pad pad;
    pad.before = {0, 0}, pad.after = {0, wanted - count};
    y = c.add(std::move(pad), {y}, "padded");
  }
  c.result(without_batch(c, y, batched, "signal"));
}

static constexpr ImportRow kSpectraRows[] = {
    {"aten._fft_c2c.default", import_fft_c2c},  {"aten._fft_c2r.default", import_fft_c2r},
    {"aten._fft_r2c.default", import_fft_r2c},  {"aten.fft_fft.default", import_fft},
    {"aten.fft_fft2.default", import_fftn},     {"aten.fft_fftn.default", import_fftn},
    {"aten.fft_ifft.default", import_fft},      {"aten.fft_ifft2.default", import_fftn},
    {"aten.fft_ifftn.default", import_fftn},    {"aten.fft_irfft.default", import_irfft},
    {"aten.fft_irfft2.default", import_irfftn}, {"aten.fft_irfftn.default", import_irfftn},
    {"aten.fft_rfft.default", import_fft},      {"aten.fft_rfft2.default", import_fftn},
    {"aten.fft_rfftn.default", import_fftn},    {"aten.istft.default", import_istft},
    {"aten.stft.default", import_stft},
};
ImportRows spectra_rows() { return kSpectraRows; }

}  // namespace deuteron::pt2
