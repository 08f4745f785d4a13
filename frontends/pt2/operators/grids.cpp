// SPDX-License-Identifier: Apache-2.0
// Sampling an image at points between its pixels: affine_grid and grid_sample. At known points the
// samples are weighted sums of pixels; at computed ones they are matrix products with the weights
// of rows and of columns, max(0, 1 - distance), which are computed too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrix_product.h"
#include "frontends/pt2/operators/reductions.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

enum Sampling : i64 { kBilinear, kNearest, kBicubic };
enum Outside : i64 { kZeros, kBorder, kReflection };

// weights of known points; products of computed ones for each channel
constexpr i64 kMostSampled = i64{1} << 24;

struct GridRules {
  i64 sampling, outside;
  bool corners;
};

// -1 and 1 are the outer pixels' middles, or with their outer edges.
double pixel_of(double at, i64 extent, bool corners) {
  const double size = static_cast<double>(extent);
  return corners ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
}

// Mirrored at both ends, as often as it takes; the ends are given twice over.
double reflected(double x, i64 twice_low, i64 twice_high) {
  if (twice_low == twice_high) return 0;
  const double low = static_cast<double>(twice_low) / 2,
               span = static_cast<double>(twice_high - twice_low) / 2;
  const double way = std::abs(x - low), rest = std::fmod(way, span);
  return std::fmod(std::floor(way / span), 2) == 0 ? rest + low : span - rest + low;
}

double kept_inside(double x, i64 extent, const GridRules& g) {
  if (g.outside == kReflection)
    x = g.corners ? reflected(x, 0, 2 * (extent - 1)) : reflected(x, -1, 2 * extent - 1);
  return g.outside == kZeros ? x : std::clamp(x, 0.0, static_cast<double>(extent - 1));
}

// Pixels along one axis and their shares of a sample.
struct Share {
  i64 pixel;
  double share;
};
std::vector<Share> shares_of(double at, i64 extent, const GridRules& g) {
  double x = pixel_of(at, extent, g.corners);
  std::vector<Share> shares;
  const auto take = [&](double pixel, double share) {
    if (pixel >= 0 && pixel < static_cast<double>(extent) && share != 0)
      shares.push_back({static_cast<i64>(pixel), share});
  };
  if (g.sampling == kBicubic) {
    const double whole = std::floor(x), t = x - whole;
    constexpr double a = -0.75;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    const std::array<double, 4> factor{far(t + 1), near(t), near(1 - t), far(2 - t)};
    for (size_t k = 0; k < 4; ++k)
      take(std::nearbyint(kept_inside(whole + static_cast<double>(k) - 1, extent, g)), factor[k]);
    return shares;
  }
  x = kept_inside(x, extent, g);
  if (g.sampling == kNearest) {
    take(std::nearbyint(x), 1);
    return shares;
  }
  const double whole = std::floor(x);
  take(whole, 1 - (x - whole));
  take(whole + 1, x - whole);
  return shares;
}

// [c, h*w] becomes [c, points]. `grid` has a pair (x, y) for each point.
ValueId sampled(Call& c, ValueId image, i64 h, i64 w, std::span<const float> grid,
                const GridRules& g) {
  Weights weights(static_cast<i64>(grid.size() / 2), h * w);
  for (i64 p = 0; p < weights.out; ++p)
    for (const Share& row : shares_of(grid[static_cast<size_t>(2 * p + 1)], h, g))
      for (const Share& column : shares_of(grid[static_cast<size_t>(2 * p)], w, g))
        weights.at(p, row.pixel * w + column.pixel) += static_cast<float>(row.share * column.share);
  return weighted_along(c, image, 1, weights, "samples");
}

// max(0, 1 - |position - k|) for every k: [n, points] becomes [n, points, extent].
ValueId shares_along(Call& c, ValueId grid, i64 which, i64 extent, const GridRules& g,
                     const std::string& name) {
  if (!c.ok()) return -1;
  const Shape s = c.shape(grid);  // [n, points, 2]
  const double size = static_cast<double>(extent), scale = g.corners ? (size - 1) / 2 : size / 2;
  ValueId at = c.add(Slice{2, which, 1, 1}, {grid}, name);
  at = sum(c, product(c, at, number(c, scale), name + "_scaled"), number(c, (size - 1) / 2),
           name + "_pixel");
  if (g.outside == kBorder)
    at = between(c, at, {.low = 0, .high = static_cast<float>(extent - 1)}, name + "_inside");
  if (g.sampling == kNearest) at = apply(c, UnaryFn::round, at, name + "_whole");
  std::vector<float> pixels;
  for (i64 k = 0; k < extent; ++k) pixels.push_back(static_cast<float>(k));
  const ValueId apart = difference(
      c, at, c.constant(name + "_pixels", {1, 1, extent}, std::move(pixels)), name + "_apart");
  const ValueId near = difference(
      c, number(c, 1), apply(c, UnaryFn::abs, apart, name + "_distance"), name + "_near");
  return between(c, near, {.low = 0, .high = kInfinity}, name + "_shares");
}

// Along every row the columns' shares, then over the rows theirs.
ValueId sampled_by_products(Call& c, ValueId x, ValueId grid, const GridRules& g) {
  const Shape s = c.shape(x), points = c.shape(grid);
  const ValueId rows = shares_along(c, grid, 1, s[2], g, "rows"),
                columns = shares_along(c, grid, 0, s[3], g, "columns");
  if (!c.ok()) return -1;
  const ValueId image = c.reshape(x, {s[0], s[1] * s[2], s[3]}, "image");
  const ValueId seen =
      matrix_product(c, image, c.permute(columns, {0, 2, 1}, "columns_turned"), 1, "seen");
  const ValueId split = c.reshape(seen, {s[0], s[1], s[2], points[1]}, "split");
  const ValueId turned = c.reshape(c.permute(rows, {0, 2, 1}, "rows_turned"),
                                   {s[0], 1, s[2], points[1]}, "rows_turned");
  return c.reshape(reduced(c, Reduce::kSum, product(c, split, turned, "terms"), {2}, "samples"),
                   {s[0], s[1], points[1]}, "samples");
}

}  // namespace

// x [n,c,h,w], grid [n,oh,ow,2]
static void import_grid_sampler(Call& c) {
  const ValueId x = c.tensor("input"), grid = c.tensor("grid");
  const GridRules g{c.integer("interpolation_mode"), c.integer("padding_mode"),
                    c.boolean("align_corners")};
  c.require(!c.ok() || (c.rank(x) == 4 && c.rank(grid) == 4 && c.shape(grid)[3] == 2 &&
                        c.shape(grid)[0] == c.shape(x)[0]),
            "samples images [n,c,h,w] at points [n,h,w,2]", c.ok() ? to_text(c.shape(grid)) : "",
            c.ok() ? to_text(c.shape(x)) : "", "pt2.grid.shape");
  c.require(!c.ok() || (g.sampling >= 0 && g.sampling <= 2 && g.outside >= 0 && g.outside <= 2),
            "the modes are not known", fmt::format("{}, {}", g.sampling, g.outside), "0..2",
            "pt2.grid.mode");
  if (!c.ok()) return;
  const Shape s = c.shape(x), to = c.shape(grid);
  const i64 points = to[1] * to[2], pixels = s[2] * s[3];
  const Shape out{s[0], s[1], to[1], to[2]};
  c.require(points * pixels <= kMostSampled, "samples too many points of too large an image",
            fmt::format("{} x {}", points, pixels), std::to_string(kMostSampled), "pt2.grid.size");
  if (!c.ok()) return;
  if (const auto known = c.known_numbers(grid)) {
    std::vector<ValueId> images;
    for (i64 n = 0; n < s[0] && c.ok(); ++n) {
      const std::string name = "image" + std::to_string(n);
      const ValueId one = s[0] == 1 ? x : c.add(Slice{0, n, 1, 1}, {x}, name);
      const std::span<const float> all(*known);
      images.push_back(sampled(
          c, c.reshape(one, {s[1], pixels}, name), s[2], s[3],
          all.subspan(static_cast<size_t>(2 * points * n), static_cast<size_t>(2 * points)), g));
    }
    if (!c.ok()) return;
    return c.result(
        c.reshape(images.size() == 1 ? images[0] : c.add(Concat{0}, images, "images"), out));
  }
  c.require(g.sampling != kBicubic && g.outside != kReflection,
            "samples at computed points in a way that is supported at constant points only",
            g.sampling == kBicubic ? "bicubic" : "reflection",
            "bilinear or nearest; zeros or border", "pt2.grid.mode");
  if (!c.ok()) return;
  c.result(
      c.reshape(sampled_by_products(c, x, c.reshape(grid, {s[0], points, 2}, "points"), g), out));
}

// The points of an image, [n,h,w,2], as theta [n,2,3] maps them.
static void import_affine_grid(Call& c) {
  const ValueId theta = c.tensor("theta");
  const std::vector<i64> size = c.integers("size");
  const bool corners = c.boolean("align_corners");
  c.require(
      !c.ok() || (size.size() == 4 && c.rank(theta) == 3 && c.shape(theta) == Shape{size[0], 2, 3}),
      "maps images by [n,2,3]", c.ok() ? to_text(c.shape(theta)) : "", c.ok() ? to_text(size) : "",
      "pt2.grid.shape");
  if (!c.ok()) return;
  const i64 h = size[2], w = size[3];
  c.require(h >= 1 && w >= 1 && h <= kMostSampled && w <= kMostSampled && h * w <= kMostSampled,
            "the size is out of range", to_text(size), "", "pt2.grid.size");
  if (!c.ok() || !c.may_make(h * w * 3)) return;
  const auto place = [corners](i64 k, i64 extent) {
    if (extent == 1) return 0.0f;
    const double at = -1 + 2 * static_cast<double>(k) / static_cast<double>(extent - 1);
    return static_cast<float>(
        corners ? at : at * static_cast<double>(extent - 1) / static_cast<double>(extent));
  };
  std::vector<float> base;
  for (i64 row = 0; row < h; ++row)
    for (i64 column = 0; column < w; ++column)
      base.insert(base.end(), {place(column, w), place(row, h), 1.0f});
  const ValueId points = c.constant("points", {h * w, 3}, std::move(base));
  c.result(c.reshape(matrix_product(c, points, c.permute(theta, {0, 2, 1}, "theta"), 1, "grid"),
                     {size[0], h, w, 2}));
}

static constexpr ImportRow kGridsRows[] = {
    {"aten.affine_grid_generator.default", import_affine_grid},
    {"aten.grid_sampler.default", import_grid_sampler},
    {"aten.grid_sampler_2d.default", import_grid_sampler},
};
ImportRows grids_rows() { return kGridsRows; }

}  // namespace deuteron::pt2
