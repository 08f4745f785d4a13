// SPDX-License-Identifier: Apache-2.0
// Operators that change an image's extents: nearest and bilinear resizing, padding by mirrored,
// repeated or wrapped elements, and shuffles between channels and pixels.
#include "frontends/pt2/operators/resampling.h"
#include "frontends/pt2/operators/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/image.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

// Where element `at` of the padded axis comes from; nothing where the mode has no answer. Padding
// below zero cuts off elements: what is wrapped then are the others, from `first` to before `end`.
std::optional<i64> source_of(i64 at, i64 extent, i64 first, i64 end, std::string_view mode) {
  if (mode == "replicate") return std::clamp<i64>(at, 0, extent - 1);
  if (mode == "circular") {
    const i64 period = end - first, place = at - first;
    return place >= -period && place < 2 * period ? std::optional(first + (place + period) % period)
                                                  : std::nullopt;
  }
  const i64 mirrored = at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
  return mirrored >= 0 && mirrored < extent ? std::optional(mirrored) : std::nullopt;
}

}  // namespace

void finish_pad_by_elements(Call& c, std::string_view mode) {
  const ValueId x = c.tensor("self");
  const std::vector<i64> list = c.integers(c.has("pad") ? "pad" : "padding");
  const i64 rank = c.rank(x), pairs = static_cast<i64>(list.size()) / 2;
  c.require(!c.ok() || (list.size() % 2 == 0 && pairs < rank), "the padding does not fit the axes",
            std::to_string(list.size()), std::to_string(2 * (rank - 1)), "pt2.pad.count");
  if (!c.ok()) return;
  ValueId y = x;
  for (i64 p = pairs; p-- > 0 && c.ok();) {
    const i64 axis = rank - 1 - p, before = list[2 * p], after = list[2 * p + 1],
              extent = c.shape(x)[axis];
    const bool in_range = before >= -extent && after >= -extent && before <= kMaxElements &&
                          after <= kMaxElements && before + after + extent >= 1;
    c.require(!in_range || before + extent + after <= kMostPicked,
              "the padded axis has too many elements", std::to_string(before + extent + after),
              std::to_string(kMostPicked), "pt2.pad.range");
    if (!c.ok()) return;
    Axes index;
    for (i64 at = -before; in_range && at < extent + after; ++at) {
      const auto from =
          source_of(at, extent, std::max<i64>(-before, 0), extent - std::max<i64>(-after, 0), mode);
      if (!from) break;
      index.push_back(*from);
    }
    c.require(in_range && static_cast<i64>(index.size()) == before + extent + after,
              fmt::format("pads more than the axis has elements to {}",
                          mode == "circular" ? "wrap" : "mirror"),
              fmt::format("{},{}", before, after),
              std::to_string(mode == "circular" ? extent : extent - 1), "pt2.pad.range");
    y = picked(c, y, axis, std::move(index), p == 0 ? "" : "rows");
  }
  c.result(y);
}

static void import_reflection_pad(Call& c) { finish_pad_by_elements(c, "reflect"); }
static void import_replication_pad(Call& c) { finish_pad_by_elements(c, "replicate"); }

std::vector<ResizedAxis> resized_axes(Call& c, ValueId x) {
  std::vector<i64> sizes;
  std::vector<double> factors;
  if (c.has("output_size")) sizes = c.integers("output_size");
  else factors = c.reals("scale_factors");
  const size_t count = std::max(sizes.size(), factors.size());
  c.require(!c.ok() || (count >= 1 && c.rank(x) == static_cast<i64>(count) + 2),
            "works on [n,c,..] with a factor for each other axis",
            fmt::format("{} factors for rank {}", count, c.rank(x)), "", "pt2.upsample.rank");
  static constexpr const char* kScales[3][3] = {
      {"scales"}, {"scales_h", "scales_w"}, {"scales_d", "scales_h", "scales_w"}};
  std::vector<ResizedAxis> axes;
  for (size_t k = 0; k < count && c.ok(); ++k) {
    const i64 in = c.shape(x)[k + 2];
    if (sizes.empty())
      c.require(std::isfinite(factors[k]) && factors[k] > 0 &&
                    factors[k] * static_cast<double>(in) <= kMaxElements,
                "the factor is out of range", std::to_string(factors[k]), "0 < factor",
                "pt2.upsample.factor");
    if (!c.ok()) break;
    const i64 out = sizes.empty()
                        ? static_cast<i64>(std::floor(static_cast<double>(in) * factors[k]))
                        : sizes[k];
    c.require(out >= 1 && out <= kMaxElements && in >= 1, "the result has no elements, or too many",
              std::to_string(out), "1..", "pt2.upsample.extent");
    std::optional<double> given;
    if (!factors.empty()) given = factors[k];
    else if (count <= 3 && c.has(kScales[count - 1][k])) given = c.number(kScales[count - 1][k]);
    if (!c.ok()) break;
    axes.push_back({in, out,
                    given && *given > 0 ? static_cast<float>(1.0 / *given)
                                        : static_cast<float>(in) / static_cast<float>(out)});
  }
  return axes;
}

Axes nearest_elements(const ResizedAxis& axis, bool exact) {
  Axes index;
  for (i64 at = 0; at < axis.out; ++at)
    index.push_back(std::min(
        static_cast<i64>(std::floor((static_cast<float>(at) + (exact ? 0.5f : 0.0f)) * axis.step)),
        axis.in - 1));
  return index;
}

namespace {

// The neighbours of every element along an axis, weighed: rows or columns picked twice, times a
// constant each, added.
ValueId interpolated(Call& c, ValueId x, i64 axis, const ResizedAxis& resized,
                     std::string_view suffix) {
  Axes first, second;
  std::vector<float> near, far;
  for (i64 o = 0; o < resized.out; ++o) {
    const float at = std::max((static_cast<float>(o) + 0.5f) * resized.step - 0.5f, 0.0f);
    first.push_back(std::min(static_cast<i64>(at), resized.in - 1));
    second.push_back(std::min(first.back() + 1, resized.in - 1));
    far.push_back(std::min(at - static_cast<float>(first.back()), 1.0f));
    near.push_back(1 - far.back());
  }
  Shape shape(4, 1);
  shape[static_cast<size_t>(axis)] = resized.out;
  const std::string name(suffix);
  const ValueId a = c.add(
      Mul{},
      {c.add(Gather{axis, first}, {x}, name + "_first"), c.constant(name + "_near", shape, near)},
      name + "_a");
  const ValueId b = c.add(
      Mul{},
      {c.add(Gather{axis, second}, {x}, name + "_second"), c.constant(name + "_far", shape, far)},
      name + "_b");
  return c.add(Add{}, {a, b}, name);
}

bool keeps_extents(const std::vector<ResizedAxis>& axes) {
  return std::all_of(axes.begin(), axes.end(),
                     [](const ResizedAxis& a) { return a.in == a.out && a.step == 1; });
}

}  // namespace

static void import_upsample_nearest(Call& c) {
  const bool exact = c.operator_name().find("exact") != std::string_view::npos;
  const ValueId x = c.tensor(c.has("input") ? "input" : "self");
  const std::vector<ResizedAxis> axes = resized_axes(c, x);
  if (!c.ok()) return;
  if (keeps_extents(axes)) return c.result(x);
  Resize2d resize;
  resize.half_pixel = exact;
  resize.size = {axes[0].out, axes.size() > 1 ? axes[1].out : 1};
  // Factors that are not the ratio of extents may pick others: then they are picked one by one.
  bool ours = axes.size() <= 2;
  for (const ResizedAxis& axis : axes)
    ours = ours && nearest_sources(resize, axis.in, axis.out) == nearest_elements(axis, exact);
  if (ours) {
    const auto count = static_cast<i64>(axes.size());
    return c.result(
        from_image(c, c.add(resize, {to_image(c, x, count)}, "out"), c.rank(x), {}, count));
  }
  ValueId y = x;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k)
    y = picked(c, y, static_cast<i64>(k) + 2, nearest_elements(axes[k], exact),
               k + 1 == axes.size() ? "" : "rows");
  c.result(y);
}

static void import_upsample_bilinear(Call& c) {
  const ValueId x = c.tensor(c.has("input") ? "input" : "self");
  std::vector<ResizedAxis> axes = resized_axes(c, x);
  const bool corners = c.boolean("align_corners");
  c.require(!c.ok() || axes.size() <= 2, "works on images, [n,c,h,w] or [n,c,w]",
            std::to_string(axes.size()), "1, 2", "pt2.upsample.rank");
  if (!c.ok()) return;
  if (keeps_extents(axes)) return c.result(x);
  const auto count = static_cast<i64>(axes.size());
  if (count == 1) axes.push_back({1, 1, 1});
  const ValueId image = to_image(c, x, count);
  ValueId y = -1;
  if (corners || (axes[0].is_even() && axes[1].is_even())) {
    Resize2d resize{Resize2d::kBilinear, {axes[0].out, axes[1].out}, corners, !corners};
    y = c.add(resize, {image}, "out");
  } else {
    y = interpolated(c, interpolated(c, image, 2, axes[1], "columns"), 1, axes[0], "rows");
  }
  c.result(from_image(c, y, c.rank(x), {}, count));
}

// [.., c*r*r, h, w] becomes [.., c, h*r, w*r]
static void import_pixel_shuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 r = c.integer("upscale_factor"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && r >= 1 && r <= 1024 && c.shape(x)[rank - 3] % (r * r) == 0),
            "the channels do not divide by the factor", c.ok() ? to_text(c.shape(x)) : "",
            fmt::format("{} x {}", r, r), "pt2.shuffle.factor");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 channels = s[rank - 3] / (r * r), h = s[rank - 2], w = s[rank - 1],
            n = c.type(x).elements() / (s[rank - 3] * h * w);
  const ValueId split = c.reshape(x, {n, channels, r, r, h, w}, "split");
  Shape out(s.begin(), s.end() - 3);
  out.insert(out.end(), {channels, h * r, w * r});
  c.result(c.reshape(c.permute(split, {0, 1, 4, 2, 5, 3}, "shuffled"), std::move(out)));
}

// [.., c, h*r, w*r] becomes [.., c*r*r, h, w]
static void import_pixel_unshuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 r = c.integer("downscale_factor"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && r >= 1 && r <= 1024 && c.shape(x)[rank - 2] % r == 0 &&
                        c.shape(x)[rank - 1] % r == 0),
            "height and width do not divide by the factor", c.ok() ? to_text(c.shape(x)) : "",
            std::to_string(r), "pt2.shuffle.factor");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 channels = s[rank - 3], h = s[rank - 2] / r, w = s[rank - 1] / r,
            n = c.type(x).elements() / (channels * h * w * r * r);
  const ValueId split = c.reshape(x, {n, channels, h, r, w, r}, "split");
  Shape out(s.begin(), s.end() - 3);
  out.insert(out.end(), {channels * r * r, h, w});
  c.result(c.reshape(c.permute(split, {0, 1, 3, 5, 2, 4}, "shuffled"), std::move(out)));
}

// Channel g of group k becomes channel k of group g.
static void import_channel_shuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 groups = c.integer("groups"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && groups >= 1 && c.shape(x)[1] % groups == 0),
            "the channels do not divide by the groups", c.ok() ? to_text(c.shape(x)) : "",
            std::to_string(groups), "pt2.shuffle.groups");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 inner = c.type(x).elements() / (s[0] * s[1]);
  const ValueId split = c.reshape(x, {s[0], groups, s[1] / groups, inner}, "split");
  c.result(c.reshape(c.permute(split, {0, 2, 1, 3}, "shuffled"), s));
}

static constexpr ImportRow kResamplingRows[] = {
    {"aten._upsample_nearest_exact1d.default", import_upsample_nearest},
    {"aten._upsample_nearest_exact1d.vec", import_upsample_nearest},
    {"aten._upsample_nearest_exact2d.default", import_upsample_nearest},
    {"aten._upsample_nearest_exact2d.vec", import_upsample_nearest},
    {"aten.channel_shuffle.default", import_channel_shuffle},
    {"aten.native_channel_shuffle.default", import_channel_shuffle},
    {"aten.pixel_shuffle.default", import_pixel_shuffle},
    {"aten.pixel_unshuffle.default", import_pixel_unshuffle},
    {"aten.reflection_pad1d.default", import_reflection_pad},
    {"aten.reflection_pad2d.default", import_reflection_pad},
    {"aten.replication_pad1d.default", import_replication_pad},
    {"aten.replication_pad2d.default", import_replication_pad},
    {"aten.upsample_bilinear2d.default", import_upsample_bilinear},
    {"aten.upsample_bilinear2d.vec", import_upsample_bilinear},
    {"aten.upsample_linear1d.default", import_upsample_bilinear},
    {"aten.upsample_linear1d.vec", import_upsample_bilinear},
    {"aten.upsample_nearest1d.default", import_upsample_nearest},
    {"aten.upsample_nearest1d.vec", import_upsample_nearest},
    {"aten.upsample_nearest2d.default", import_upsample_nearest},
    {"aten.upsample_nearest2d.vec", import_upsample_nearest},
};
ImportRows resampling_rows() { return kResamplingRows; }

}  // namespace deuteron::pt2
