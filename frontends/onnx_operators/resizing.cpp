// Resizing of images and signals. What torch has is torch's; everything else picks elements along each axis, and weighs them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx_operators/compose.h"
#include "frontends/onnx_operators/import_table.h"

namespace deuteron::onnx {
namespace {

struct Resized {
  i64 axis = 0, in = 1, out = 1;
  float scale = 1;
};

bool is_whole(const Resized& r) { return std::abs(r.scale * static_cast<float>(r.in) - static_cast<float>(r.out)) < 1e-3f; }

// Where the standard finds an element of the result among those of the operand, along one axis.
struct Rule {
  std::string coordinates, nearest, mode;
  double cubic = -0.75;
};

float coordinate(const Rule& rule, const Resized& r, i64 at) {
  const float x = static_cast<float>(at), in = static_cast<float>(r.in), out = static_cast<float>(r.out);
  if (rule.coordinates == "asymmetric") return x / r.scale;
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

// The elements that each element of the result is made of, and their shares: one list for each tap.
struct Taps {
  std::vector<std::vector<i64>> index;
  std::vector<std::vector<float>> share;
};
Taps taps_of(const Rule& rule, const Resized& r) {
  const size_t count = rule.mode == "nearest" ? 1 : rule.mode == "linear" ? 2 : 4;
  Taps taps{std::vector<std::vector<i64>>(count), std::vector<std::vector<float>>(count)};
  const double a = rule.cubic;
  for (i64 o = 0; o < r.out; ++o) {
    float x = coordinate(rule, r, o);
    if (rule.mode == "linear") x = std::clamp(x, 0.0f, static_cast<float>(r.in - 1));
    const i64 first = count == 1 ? nearest(rule.nearest, x) : static_cast<i64>(std::floor(x)) - (count == 4 ? 1 : 0);
    const double t = static_cast<double>(x) - std::floor(static_cast<double>(x)), u = 1 - t;
    const double linear[] = {u, t};
    const double cubic[] = {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a, ((a + 2) * t - (a + 3)) * t * t + 1,
                            ((a + 2) * u - (a + 3)) * u * u + 1, ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a};
    for (size_t k = 0; k < count; ++k) {
      taps.index[k].push_back(std::clamp<i64>(first + static_cast<i64>(k), 0, r.in - 1));
      taps.share[k].push_back(count == 1 ? 1.0f : static_cast<float>(count == 2 ? linear[k] : cubic[k]));
    }
  }
  return taps;
}

Operand resized_by_taps(Call& c, Operand x, const Resized& r, const Rule& rule, std::string_view suffix) {
  if (!c.ok()) return {};
  const Taps taps = taps_of(rule, r);
  if (taps.index.size() == 1) return picked(c, x, r.axis, taps.index[0], suffix);
  Shape along(c.shape(x).size(), 1);
  along[r.axis] = r.out;
  Operand y;
  for (size_t k = 0; k < taps.index.size() && c.ok(); ++k) {
    const std::string tap = fmt::format("axis{}_tap{}", r.axis, k);
    const Operand part =
        product(c, picked(c, x, r.axis, taps.index[k], tap), c.numbers(tap + "_share", along, taps.share[k]), tap + "_part");
    y = k == 0 ? part : sum(c, y, part, k + 1 == taps.index.size() ? suffix : std::string_view(tap));
  }
  return y;
}

// The axes that change, with their scales: those given, or those of the sizes.
std::vector<Resized> read_axes(Call& c, const Operand& x) {
  const i64 rank = c.rank(x);
  std::vector<i64> axes = c.axes(c.integers("axes"), rank);
  if (axes.empty())
    for (i64 k = 0; k < rank; ++k) axes.push_back(k);
  std::vector<float> scales;
  std::vector<i64> sizes;
  if (c.has(3)) sizes = c.integers_of(3, "sizes");
  if (sizes.empty() && c.has(2)) scales = c.known_numbers(c.operand(2)).value_or(std::vector<float>());
  c.require(!c.ok() || sizes.size() == axes.size() || scales.size() == axes.size(),
            "does not have a scale or size for each axis, or computes them", std::to_string(std::max(sizes.size(), scales.size())),
            std::to_string(axes.size()), "onnx.resize.scales");
  const std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  c.require(policy == "stretch" || sizes.empty(), "keeps the aspect ratio, which is not supported", policy, "stretch",
            "onnx.resize.policy");
  std::vector<Resized> result;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k) {
    const i64 in = c.shape(x)[axes[k]];
    const float scale = sizes.empty() ? scales[k] : static_cast<float>(sizes[k]) / static_cast<float>(in);
    c.require(std::isfinite(scale) && scale > 0 && scale * static_cast<float>(in) < 0x1p24f, "has a scale out of range",
              std::to_string(scale), "above 0", "onnx.resize.scale");
    if (!c.ok()) break;
    const i64 out = sizes.empty() ? static_cast<i64>(std::floor(static_cast<float>(in) * scale)) : sizes[k];
    c.require(out >= 1, "makes an axis without elements", std::to_string(out), "1", "onnx.resize.extent");
    if (out != in || scale != 1) result.push_back({axes[k], in, out, scale});
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
          std::min(static_cast<i64>(std::floor((static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step)), r.in - 1))
        return false;
  }
  return true;
}

// As torch calls it, where it is an image or a signal whose last axes change.
Operand resized_by_torch(Call& c, const Operand& x, const std::vector<Resized>& axes, const Rule& rule) {
  const i64 rank = c.rank(x), count = rank - 2;
  if (!c.ok() || count < 1 || count > 2 || std::any_of(axes.begin(), axes.end(), [](const Resized& r) { return r.axis < 2; })) return {};
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
        return c.torch(std::string(exact ? "aten._upsample_nearest_exact" : "aten.upsample_nearest") + end,
                       {{"self", x}, {"output_size", size}});
    return {};
  }
  const bool corners = rule.coordinates == "align_corners";
  const bool half = rule.coordinates == "half_pixel" || (rule.coordinates == "pytorch_half_pixel" &&
                                                         std::all_of(axes.begin(), axes.end(), [](const Resized& r) { return r.out > 1; }));
  if (rule.mode != "linear" || !(corners || (half && exact_ratio))) return {};
  return c.torch((count == 2 ? "aten.upsample_bilinear" : "aten.upsample_linear") + end,
                 {{"self", x}, {"output_size", size}, {"align_corners", corners}});
}

}  // namespace

static void import_resize(Call& c) {
  const Operand x = c.operand(0);
  const Rule rule{c.text("coordinate_transformation_mode", "half_pixel"), c.text("nearest_mode", "round_prefer_floor"),
                  c.text("mode", "nearest"), c.number("cubic_coeff_a", -0.75)};
  constexpr const char* kKnown[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"};
  c.require(std::find(std::begin(kKnown), std::end(kKnown), rule.coordinates) != std::end(kKnown),
            "places its elements in a way that is not supported", rule.coordinates,
            "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric", "onnx.resize.coordinates");
  c.require(rule.mode == "nearest" || rule.mode == "linear" || rule.mode == "cubic", "has an unknown mode", rule.mode,
            "nearest, linear, cubic", "onnx.resize.mode");
  c.require(c.integer("antialias", 0) == 0, "smooths what it makes smaller, which is not supported", "antialias 1", "0",
            "onnx.resize.antialias");
  c.require(c.integer("exclude_outside", 0) == 0, "leaves out elements beyond the borders", "1", "0", "onnx.resize.outside");
  const std::vector<Resized> axes = read_axes(c, x);
  for (const Resized& r : axes)  // the standard's corners lie between elements then, those of ONNX Runtime do not
    c.require(rule.coordinates != "align_corners" || is_whole(r), "aligns corners of an axis whose scaled extent is not whole",
              std::to_string(r.scale * static_cast<float>(r.in)), std::to_string(r.out), "onnx.resize.scale");
  if (!c.ok() || axes.empty()) return c.result(x);
  Operand y = resized_by_torch(c, x, axes, rule);
  if (y || !c.ok()) return c.result(y);
  y = x;
  for (const Resized& r : axes) y = resized_by_taps(c, y, r, rule, &r == &axes.back() ? "" : fmt::format("axis{}", r.axis));
  c.result(y);
}

static constexpr ImportRow kResizingRows[] = {
    {"Resize", import_resize, {}, true},
};
ImportRows resizing_rows() { return kResizingRows; }

}  // namespace deuteron::onnx
