// SPDX-License-Identifier: Apache-2.0
// Resizing by weighted sums along one axis after the other: bicubic, trilinear, with or without a
// filter against aliases; and nearest over three axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/resampling.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

// Keys' cubic with parameter a, at distance x.
float cubic(float x, float a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

float triangle(float x) { return std::max(0.0f, 1 - std::abs(x)); }

// How far apart the result's elements lie where the corners are at the same place.
float step_of(const ResizedAxis& axis, bool corners) {
  if (!corners) return axis.step;
  return axis.out > 1 ? static_cast<float>(axis.in - 1) / static_cast<float>(axis.out - 1) : 0.0f;
}

// torch's parameter is -0.75; elements beyond the ends are those at the ends.
Weights cubic_weights(const ResizedAxis& axis, bool corners) {
  Weights w(axis.out, axis.in);
  const float step = step_of(axis, corners);
  for (i64 o = 0; o < axis.out; ++o) {
    const float at =
        corners ? step * static_cast<float>(o) : step * (static_cast<float>(o) + 0.5f) - 0.5f;
    const float whole = std::floor(at);
    for (i64 k = -1; k <= 2; ++k) {
      const i64 from = std::clamp<i64>(static_cast<i64>(whole) + k, 0, axis.in - 1);
      w.at(o, from) += cubic(at - whole - static_cast<float>(k), -0.75f);
    }
  }
  return w;
}

Weights linear_weights(const ResizedAxis& axis, bool corners) {
  Weights w(axis.out, axis.in);
  const float step = step_of(axis, corners);
  for (i64 o = 0; o < axis.out; ++o) {
    const float at = corners ? step * static_cast<float>(o)
                             : std::max(step * (static_cast<float>(o) + 0.5f) - 0.5f, 0.0f);
    const i64 first = std::min(static_cast<i64>(at), axis.in - 1),
              second = std::min(first + 1, axis.in - 1);
    const float far = std::min(at - static_cast<float>(first), 1.0f);
    w.at(o, first) += 1 - far;
    w.at(o, second) += far;
  }
  return w;
}

// A filter as wide as the step where the axis shrinks; its weights add up to 1.
Weights filtered_weights(const ResizedAxis& axis, bool corners, bool is_cubic) {
  Weights w(axis.out, axis.in);
  const float step = step_of(axis, corners), widened = std::max(step, 1.0f),
              reach = (is_cubic ? 2.0f : 1.0f) * widened;
  for (i64 o = 0; o < axis.out; ++o) {
    const float center = step * (static_cast<float>(o) + 0.5f);
    const i64 first = std::max<i64>(static_cast<i64>(center - reach + 0.5f), 0);
    const i64 end = std::min<i64>(static_cast<i64>(center + reach + 0.5f), axis.in);
    float total = 0;
    for (i64 i = first; i < end; ++i) {
      const float x = (static_cast<float>(i) - center + 0.5f) / widened;
      total += w.at(o, i) = is_cubic ? cubic(x, -0.5f) : triangle(x);
    }
    for (i64 i = first; i < end && total != 0; ++i) w.at(o, i) /= total;
  }
  return w;
}

bool keeps(const ResizedAxis& axis, bool corners) {
  return axis.in == axis.out && (corners || axis.step == 1);
}

}  // namespace

static void import_upsample_by_weights(Call& c) {
  const std::string_view name = c.operator_name();
  const bool filtered = name.ends_with("_aa"),
             is_cubic = name.find("bicubic") != std::string_view::npos;
  const ValueId x = c.tensor(c.has("input") ? "input" : "self");
  const std::vector<ResizedAxis> axes = resized_axes(c, x);
  const bool corners = c.boolean("align_corners");
  ValueId y = x;
  // The axis that shrinks most first: the others then have less to do.
  std::vector<size_t> order;
  for (size_t k = 0; k < axes.size(); ++k) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return axes[a].out * axes[b].in < axes[b].out * axes[a].in;
  });
  for (const size_t k : order) {
    if (!c.ok()) return;
    const ResizedAxis& axis = axes[k];
    if (keeps(axis, corners)) continue;
    c.require(axis.in * axis.out <= i64{1} << 22, "resizes an axis of too many elements",
              fmt::format("{} x {}", axis.in, axis.out), std::to_string(1 << 22),
              "pt2.upsample.extent");
    if (!c.ok()) return;
    const Weights w = filtered   ? filtered_weights(axis, corners, is_cubic)
                      : is_cubic ? cubic_weights(axis, corners)
                                 : linear_weights(axis, corners);
    y = weighted_along(c, y, static_cast<i64>(k) + 2, w, "axis" + std::to_string(k));
  }
  c.result(y);
}

static void import_upsample_nearest3d(Call& c) {
  const bool exact = c.operator_name().find("exact") != std::string_view::npos;
  const ValueId x = c.tensor(c.has("input") ? "input" : "self");
  const std::vector<ResizedAxis> axes = resized_axes(c, x);
  ValueId y = x;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k) {
    y = picked(c, y, static_cast<i64>(k) + 2, nearest_elements(axes[k], exact),
               "axis" + std::to_string(k));
  }
  c.result(y);
}

static constexpr ImportRow kInterpolationRows[] = {
    {"aten._upsample_bicubic2d_aa.default", import_upsample_by_weights},
    {"aten._upsample_bicubic2d_aa.vec", import_upsample_by_weights},
    {"aten._upsample_bilinear2d_aa.default", import_upsample_by_weights},
    {"aten._upsample_bilinear2d_aa.vec", import_upsample_by_weights},
    {"aten._upsample_nearest_exact3d.default", import_upsample_nearest3d},
    {"aten._upsample_nearest_exact3d.vec", import_upsample_nearest3d},
    {"aten.upsample_bicubic2d.default", import_upsample_by_weights},
    {"aten.upsample_bicubic2d.vec", import_upsample_by_weights},
    {"aten.upsample_nearest3d.default", import_upsample_nearest3d},
    {"aten.upsample_nearest3d.vec", import_upsample_nearest3d},
    {"aten.upsample_trilinear3d.default", import_upsample_by_weights},
    {"aten.upsample_trilinear3d.vec", import_upsample_by_weights},
};
ImportRows interpolation_rows() { return kInterpolationRows; }

}  // namespace deuteron::pt2
