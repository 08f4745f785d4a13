// SPDX-License-Identifier: Apache-2.0
// Resizing of images and signals. What torch has is torch's; everything else picks elements along
// each axis, and weighs them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {
namespace {

struct Resized {
  i64 axis = 0, in = 1, out = 1;
  float scale = 1;
  float first = 0, last = 1;  // the part of the axis that is cut out, for tf_crop_and_resize
};
constexpr double kMostTaps = 1 << 16;
constexpr i64 kMostWeights = i64{1} << 22;

bool is_whole(const Resized& r) {
  return std::abs(r.scale * static_cast<float>(r.in) - static_cast<float>(r.out)) < 1e-3f;
}

// Where the standard finds an element of the result among those of the operand, along one axis.
struct Rule {
  std::string coordinates, nearest, mode;
  double cubic = -0.75;
  bool antialias = false, exclude_outside = false;
  double beyond = 0;  // what tf_crop_and_resize has where its part reaches beyond the operand
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
  bool has_torch_form() const { return !antialias && !exclude_outside && !crops(); }
};

float coordinate(const Rule& rule, const Resized& r, i64 at) {
  const float x = static_cast<float>(at), in = static_cast<float>(r.in),
              out = static_cast<float>(r.out);
  if (rule.coordinates == "asymmetric") return x / r.scale;
  if (rule.crops())
    return r.first * (in - 1) + (r.out == 1 ? 0.5f : x / (out - 1)) * (r.last - r.first) * (in - 1);
  if (rule.coordinates == "align_corners") return r.out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (rule.coordinates == "pytorch_half_pixel" && r.out == 1) return 0;
  const float half = (x + 0.5f) / r.scale - 0.5f;
  if (rule.coordinates != "half_pixel_symmetric") return half;
  const float wanted = r.scale * in, adjustment = out / wanted, center = in / 2;
  return center * (1 - adjustment) + half;
}

i64 nearest(const std::string& mode, float x) {
  if (mode == "floor") return static_cast<i64>(std::floor(x));
  if (mode == "ceil") return static_cast<i64>(std::ceil(x));
  if (mode == "round_prefer_ceil") return static_cast<i64>(std::floor(x + 0.5f));
  return static_cast<i64>(std::ceil(x - 0.5f));
}

// Keys' cubic with parameter a, or a triangle, at distance x.
double kernel(const Rule& rule, double x) {
  const double a = rule.cubic;
  x = std::abs(x);
  if (rule.mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// How many elements one of the result is made of. The filter against aliases is the kernel, as much
// wider as the axis gets shorter.
double tap_count(const Rule& rule, const Resized& r) {
  if (rule.mode == "nearest") return 1;
  const double reach = rule.mode == "linear" ? 1 : 2;
  return rule.antialias ? -2 * std::floor(-reach / std::min(static_cast<double>(r.scale), 1.0))
                        : 2 * reach;
}

// The elements that each element of the result is made of, and their shares: one list for each tap.
struct Taps {
  std::vector<std::vector<i64>> index;
  std::vector<std::vector<float>> share;
  std::vector<float> beyond;  // what is added; empty: nothing
};

// The elements around x and their shares, which are 1 in all.
void add_neighbours(Taps& taps, const Rule& rule, const Resized& r, double x) {
  const double whole = std::floor(x) == x && rule.antialias
                           ? x - 1
                           : std::floor(x);  // the standard prefers the element before
  const double width = rule.antialias ? std::min(static_cast<double>(r.scale), 1.0) : 1;
  const i64 count = static_cast<i64>(taps.index.size()),
            first = static_cast<i64>(whole) - count / 2 + 1;
  std::vector<double> shares;
  double total = 0;
  for (i64 at = first; at < first + count; ++at) {
    const bool counts = !rule.exclude_outside || (at >= 0 && at < r.in);
    shares.push_back(counts ? kernel(rule, (static_cast<double>(at) - x) * width) : 0);
    total += shares.back();
  }
  const bool normalize = (rule.antialias || rule.exclude_outside) && total != 0;
  for (i64 k = 0; k < count; ++k) {
    taps.index[static_cast<size_t>(k)].push_back(std::clamp<i64>(first + k, 0, r.in - 1));
    taps.share[static_cast<size_t>(k)].push_back(static_cast<float>(
        normalize ? shares[static_cast<size_t>(k)] / total : shares[static_cast<size_t>(k)]));
  }
}

Taps taps_of(const Rule& rule, const Resized& r) {
  const size_t count = static_cast<size_t>(tap_count(rule, r));
  Taps taps{std::vector<std::vector<i64>>(count), std::vector<std::vector<float>>(count), {}};
  for (i64 o = 0; o < r.out; ++o) {
    float x = coordinate(rule, r, o);
    const bool is_beyond = rule.crops() && (x < 0 || x > static_cast<float>(r.in - 1));
    // A triangle has the element at the border alone beyond it; where the outside is left out, and
    // in a filter, shares say so.
    x = std::clamp(
        x, rule.mode == "linear" && !rule.antialias ? 0.0f : -0x1p24f,
        rule.mode == "linear" && !rule.antialias ? static_cast<float>(r.in - 1) : 0x1p25f);
    if (count == 1) {
      taps.index[0].push_back(std::clamp<i64>(nearest(rule.nearest, x), 0, r.in - 1));
      taps.share[0].push_back(1);
    } else {
      add_neighbours(taps, rule, r, static_cast<double>(x));
    }
    if (!is_beyond) continue;
    taps.beyond.resize(static_cast<size_t>(r.out), 0.0f);
    taps.beyond[static_cast<size_t>(o)] = static_cast<float>(rule.beyond);
    for (auto& share : taps.share) share.back() = 0;
  }
  return taps;
}

// A fully connected layer along an axis.
Operand weighed(Call& c, const Operand& x, const Resized& r, const Taps& taps,
                std::string_view suffix) {
  c.require(r.in * r.out <= kMostWeights, "resizes an axis of too many elements",
            fmt::format("{} x {}", r.in, r.out), std::to_string(kMostWeights),
            "onnx.resize.extent");
  if (!c.ok() || !c.may_make(r.in * r.out)) return {};
  std::vector<float> weights(static_cast<size_t>(r.in * r.out), 0.0f);
  for (size_t k = 0; k < taps.index.size(); ++k)
    for (i64 o = 0; o < r.out; ++o)
      weights[static_cast<size_t>(o * r.in + taps.index[k][static_cast<size_t>(o)])] +=
          taps.share[k][static_cast<size_t>(o)];
  const i64 last = c.rank(x) - 1;
  Axes swap(static_cast<size_t>(last + 1));
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[r.axis], swap[last]);
  const Operand weight = c.numbers("weights", {r.out, r.in}, std::move(weights));
  const Operand in = r.axis == last ? x : permuted(c, x, swap, "turned");
  const Operand y = fully_connected(c, in, weight, {}, r.axis == last ? suffix : "sums");
  return r.axis == last ? y : permuted(c, y, swap, suffix);
}

Operand resized_by_taps(Call& c, Operand x, const Resized& r, const Rule& rule,
                        std::string_view suffix) {
  c.require(!c.ok() || tap_count(rule, r) * static_cast<double>(r.out) <=
                           static_cast<double>(i64{1} << 24),
            "weighs too many elements for each of its results",
            fmt::format("{:g}", tap_count(rule, r)), fmt::format("{:g}", kMostTaps),
            "onnx.resize.extent");
  if (!c.ok()) return {};
  const Taps taps = taps_of(rule, r);
  const bool adds = !taps.beyond.empty();
  if (taps.index.size() == 1 && !adds) return picked(c, x, r.axis, taps.index[0], suffix);
  Shape along(c.shape(x).size(), 1);
  along[r.axis] = r.out;
  const std::string_view end = adds ? "inside" : suffix;
  Operand y;
  if (taps.index.size() > 4) {
    y = weighed(c, x, r, taps, end);
  } else {
    for (size_t k = 0; k < taps.index.size() && c.ok(); ++k) {
      const std::string tap = fmt::format("axis{}_tap{}", r.axis, k);
      const Operand elements = picked(c, x, r.axis, taps.index[k], tap),
                    shares = c.numbers(tap + "_share", along, taps.share[k]);
      const Operand part = product(c, elements, shares, tap + "_part");
      y = k == 0 ? part : sum(c, y, part, k + 1 == taps.index.size() ? end : std::string_view(tap));
    }
  }
  return adds ? sum(c, y, c.numbers("beyond", along, taps.beyond), suffix) : y;
}

// The scales of sizes. One that keeps the aspect ratio is the smallest or the largest of them, and
// the sizes follow it.
std::vector<float> keep_ratio(Call& c, const Operand& x, const std::vector<i64>& axes,
                              std::vector<i64>& sizes) {
  const std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  c.require(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
            "has an unknown policy", policy, "stretch, not_larger, not_smaller",
            "onnx.resize.policy");
  if (!c.ok()) return {};
  const Shape shape = c.shape(x);
  std::vector<float> scales;
  for (size_t k = 0; k < axes.size(); ++k)
    scales.push_back(static_cast<float>(sizes[k]) / static_cast<float>(shape[axes[k]]));
  if (policy == "stretch" || scales.empty()) return scales;
  const float one = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                           : *std::max_element(scales.begin(), scales.end());
  for (size_t k = 0; k < axes.size(); ++k) {
    const double size = static_cast<double>(one) * static_cast<double>(shape[axes[k]]);
    c.require(size > 0 && size < 0x1p24, "has a scale out of range", std::to_string(one), "above 0",
              "onnx.resize.scale");
    sizes[k] = c.ok() ? static_cast<i64>(size + 0.5) : 1;
  }
  return std::vector<float>(axes.size(), one);
}

// Where the part begins along each axis, then where it ends. Empty: the operand is not cut.
std::vector<float> read_parts(Call& c, size_t axes) {
  if (c.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize") return {};
  const auto known = c.known_numbers(c.operand(1));
  c.require(!c.ok() || (known && known->size() == 2 * axes),
            "does not have a part of each axis, or computes it",
            known ? std::to_string(known->size()) : "none", std::to_string(2 * axes),
            "onnx.resize.part");
  for (size_t k = 0; c.ok() && k < 2 * axes; ++k)
    c.require(std::abs((*known)[k]) <= 1e3f, "has a part out of range", std::to_string((*known)[k]),
              "1000", "onnx.resize.part");
  return c.ok() ? *known : std::vector<float>();
}

// The axes that change, with their scales: those given, or those of the sizes.
std::vector<Resized> read_axes(Call& c, const Operand& x) {
  const i64 rank = c.rank(x);
  std::vector<i64> axes = c.axes(c.integers("axes"), rank);
  if (axes.empty())
    for (i64 k = 0; k < rank; ++k) axes.push_back(k);
  std::vector<float> scales;
  std::vector<i64> sizes;
  const size_t at = c.opset() < 11 ? 1 : 2;
  if (c.has(3)) sizes = c.integers_of(3, "sizes");
  if (sizes.empty() && c.has(at))
    scales = c.known_numbers(c.operand(at)).value_or(std::vector<float>());
  c.require(!c.ok() || sizes.size() == axes.size() || scales.size() == axes.size(),
            "does not have a scale or size for each axis, or computes them",
            std::to_string(std::max(sizes.size(), scales.size())), std::to_string(axes.size()),
            "onnx.resize.scales");
  if (!c.ok()) return {};
  if (!sizes.empty()) scales = keep_ratio(c, x, axes, sizes);
  const std::vector<float> parts = read_parts(c, axes.size());
  std::vector<Resized> result;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k) {
    const i64 in = c.shape(x)[axes[k]];
    const float scale = scales[k];
    c.require(std::isfinite(scale) && scale > 0 && scale * static_cast<float>(in) < 0x1p24f,
              "has a scale out of range", std::to_string(scale), "above 0", "onnx.resize.scale");
    if (!c.ok()) break;
    const i64 out =
        sizes.empty() ? static_cast<i64>(std::floor(static_cast<float>(in) * scale)) : sizes[k];
    c.require(out >= 1, "makes an axis without elements", std::to_string(out), "1",
              "onnx.resize.extent");
    const float first = parts.empty() ? 0 : parts[k],
                last = parts.empty() ? 1 : parts[k + axes.size()];
    if (out != in || scale != 1 || first != 0 || last != 1)
      result.push_back({axes[k], in, out, scale, first, last});
  }
  // The places of the result along an axis are looked up, perhaps for several forms.
  for (const Resized& r : result) {
    c.require(r.out <= kMostWeights, "resizes an axis of too many elements", std::to_string(r.out),
              std::to_string(kMostWeights), "onnx.resize.extent");
    if (!c.ok() || !c.may_make(4 * r.out)) return {};
  }
  return result;
}

// Whether these are the elements that torch's nearest (or nearest-exact) picks.
bool is_torch_nearest(const Rule& rule, const std::vector<Resized>& axes, bool exact) {
  for (const Resized& r : axes) {
    const std::vector<i64> index = taps_of(rule, r).index[0];
    const float step = static_cast<float>(r.in) / static_cast<float>(r.out);
    for (i64 o = 0; o < r.out; ++o)
      if (index[static_cast<size_t>(o)] !=
          std::min(
              static_cast<i64>(std::floor((static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step)),
              r.in - 1))
        return false;
  }
  return true;
}

// As torch calls it, where it is an image or a signal whose last axes change.
Operand resized_by_torch(Call& c, const Operand& x, const std::vector<Resized>& axes,
                         const Rule& rule) {
  const i64 rank = c.rank(x), count = rank - 2;
  if (!c.ok() || count < 1 || count > 2 ||
      std::any_of(axes.begin(), axes.end(), [](const Resized& r) { return r.axis < 2; }))
    return {};
  std::vector<i64> size;
  bool exact_ratio = true;
  for (i64 k = 2; k < rank; ++k) size.push_back(c.shape(x)[k]);
  for (const Resized& r : axes) {
    size[static_cast<size_t>(r.axis - 2)] = r.out;
    exact_ratio = exact_ratio && is_whole(r);
  }
  const std::string end = fmt::format("{}d.default", count);
  if (rule.mode == "nearest") {
    for (const bool exact : {false, true})
      if (is_torch_nearest(rule, axes, exact))
        return c.torch(
            std::string(exact ? "aten._upsample_nearest_exact" : "aten.upsample_nearest") + end,
            {{"self", x}, {"output_size", size}});
    return {};
  }
  const bool corners = rule.coordinates == "align_corners";
  const bool half =
      rule.coordinates == "half_pixel" ||
      (rule.coordinates == "pytorch_half_pixel" &&
       std::all_of(axes.begin(), axes.end(), [](const Resized& r) { return r.out > 1; }));
  if (rule.mode != "linear" || !(corners || (half && exact_ratio))) return {};
  return c.torch((count == 2 ? "aten.upsample_bilinear" : "aten.upsample_linear") + end,
                 {{"self", x}, {"output_size", size}, {"align_corners", corners}});
}

}  // namespace

static void import_resize(Call& c) {
  const Operand x = c.operand(0);
  const bool is_old = c.opset() < 11;  // had no attribute for where elements lie
  const Rule rule{c.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel"),
                  c.text("nearest_mode", is_old ? "floor" : "round_prefer_floor"),
                  c.text("mode", "nearest"),
                  c.number("cubic_coeff_a", -0.75),
                  c.integer("antialias", 0) != 0,
                  c.integer("exclude_outside", 0) != 0,
                  c.number("extrapolation_value", 0)};
  constexpr const char* kKnown[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                    "align_corners", "asymmetric",           "tf_crop_and_resize"};
  c.require(std::find(std::begin(kKnown), std::end(kKnown), rule.coordinates) != std::end(kKnown),
            "places its elements in a way that is not supported", rule.coordinates,
            "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
            "tf_crop_and_resize",
            "onnx.resize.coordinates");
  c.require(rule.mode == "nearest" || rule.mode == "linear" || rule.mode == "cubic",
            "has an unknown mode", rule.mode, "nearest, linear, cubic", "onnx.resize.mode");
  const std::vector<Resized> axes = read_axes(c, x);
  for (const Resized& r :
       axes)  // the standard's corners lie between elements then, those of ONNX Runtime do not
    c.require(rule.coordinates != "align_corners" || is_whole(r),
              "aligns corners of an axis whose scaled extent is not whole",
              std::to_string(r.scale * static_cast<float>(r.in)), std::to_string(r.out),
              "onnx.resize.scale");
  if (!c.ok() || axes.empty()) return c.result(x);
  Operand y = rule.has_torch_form() || rule.mode == "nearest" ? resized_by_torch(c, x, axes, rule)
                                                              : Operand{};
  if (y || !c.ok()) return c.result(y);
  y = x;
  for (const Resized& r : axes)
    y = resized_by_taps(c, y, r, rule, &r == &axes.back() ? "" : fmt::format("axis{}", r.axis));
  c.result(y);
}

static constexpr ImportRow kResizingRows[] = {
    {"Resize", import_resize, {}, true},
    {"Upsample", import_resize, {}, true},
};
ImportRows resizing_rows() { return kResizingRows; }

}  // namespace deuteron::onnx
