// Operators that change an image's extents by repeating or rearranging elements: nearest upsampling, padding by mirrored, repeated or
// wrapped elements, and shuffles between channels and pixels.
#include "frontends/pt2/resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {
namespace {

ValueId pick(Call& c, ValueId x, i64 axis, Axes index, std::string_view suffix) {
  if (!c.ok()) return -1;
  bool same = static_cast<i64>(index.size()) == c.shape(x)[axis];
  for (size_t k = 0; k < index.size(); ++k) same = same && index[k] == static_cast<i64>(k);
  return same ? x : c.add(Gather{axis, std::move(index)}, {x}, suffix);
}

// Where element `at` of the padded axis comes from; nothing where the mode has no answer.
std::optional<i64> source_of(i64 at, i64 extent, std::string_view mode) {
  if (mode == "replicate") return std::clamp<i64>(at, 0, extent - 1);
  if (mode == "circular") return at >= -extent && at < 2 * extent ? std::optional((at + extent) % extent) : std::nullopt;
  const i64 mirrored = at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
  return mirrored >= 0 && mirrored < extent ? std::optional(mirrored) : std::nullopt;
}

}  // namespace

void finish_pad_by_elements(Call& c, std::string_view mode) {
  const ValueId x = c.tensor("self");
  const std::vector<i64> list = c.integers(c.has("pad") ? "pad" : "padding");
  const i64 rank = c.rank(x), pairs = static_cast<i64>(list.size()) / 2;
  c.require(!c.ok() || (list.size() % 2 == 0 && pairs < rank), "the padding does not fit the axes", std::to_string(list.size()),
            std::to_string(2 * (rank - 1)), "pt2.pad.count");
  if (!c.ok()) return;
  ValueId y = x;
  for (i64 p = pairs; p-- > 0 && c.ok();) {
    const i64 axis = rank - 1 - p, before = list[2 * p], after = list[2 * p + 1], extent = c.shape(x)[axis];
    const bool in_range =
        before >= -extent && after >= -extent && before <= kMaxElements && after <= kMaxElements && before + after + extent >= 1;
    Axes index;
    for (i64 at = -before; in_range && at < extent + after; ++at) {
      const auto from = source_of(at, extent, mode);
      if (!from) break;
      index.push_back(*from);
    }
    c.require(in_range && static_cast<i64>(index.size()) == before + extent + after,
              fmt::format("pads more than the axis has elements to {}", mode == "circular" ? "wrap" : "mirror"),
              fmt::format("{},{}", before, after), std::to_string(mode == "circular" ? extent : extent - 1), "pt2.pad.range");
    y = pick(c, y, axis, std::move(index), p == 0 ? "" : "rows");
  }
  c.result(y);
}

void import_reflection_pad(Call& c) { finish_pad_by_elements(c, "reflect"); }
void import_replication_pad(Call& c) { finish_pad_by_elements(c, "replicate"); }

// Element k of the result is element floor(k / factor) of x; "exact" takes the middle of k.
void import_upsample_nearest(Call& c) {
  const bool exact = c.operator_name().find("exact") != std::string_view::npos;
  const ValueId x = c.tensor(c.has("input") ? "input" : "self");
  std::vector<i64> sizes;
  std::vector<double> factors;
  if (c.has("output_size")) sizes = c.integers("output_size");
  else factors = c.reals("scale_factors");
  const size_t axes = std::max(sizes.size(), factors.size());
  c.require(!c.ok() || (axes >= 1 && c.rank(x) == static_cast<i64>(axes) + 2), "works on [n,c,..] with a factor for each other axis",
            fmt::format("{} factors for rank {}", axes, c.rank(x)), "", "pt2.upsample.rank");
  if (!c.ok()) return;
  static constexpr const char* kScales[3][3] = {{"scales"}, {"scales_h", "scales_w"}, {"scales_d", "scales_h", "scales_w"}};
  ValueId y = x;
  for (size_t k = 0; k < axes && c.ok(); ++k) {
    const i64 axis = static_cast<i64>(k) + 2, extent = c.shape(x)[axis];
    if (sizes.empty())
      c.require(std::isfinite(factors[k]) && factors[k] > 0 && factors[k] * static_cast<double>(extent) <= kMaxElements,
                "the factor is out of range", std::to_string(factors[k]), "0 < factor", "pt2.upsample.factor");
    if (!c.ok()) return;
    const i64 out = sizes.empty() ? static_cast<i64>(std::floor(static_cast<double>(extent) * factors[k])) : sizes[k];
    c.require(out >= 1 && out <= kMaxElements, "the result has no elements, or too many", std::to_string(out), "1..",
              "pt2.upsample.extent");
    // torch steps by the factor where one is given, else by the ratio of extents; in float32.
    std::optional<double> given;
    if (!factors.empty()) given = factors[k];
    else if (axes <= 3 && c.has(kScales[axes - 1][k])) given = c.number(kScales[axes - 1][k]);
    const float step = given && *given > 0 ? static_cast<float>(1.0 / *given) : static_cast<float>(extent) / static_cast<float>(out);
    Axes index;
    for (i64 at = 0; c.ok() && at < out; ++at)
      index.push_back(std::min(static_cast<i64>(std::floor((static_cast<float>(at) + (exact ? 0.5f : 0.0f)) * step)), extent - 1));
    y = pick(c, y, axis, std::move(index), k + 1 == axes ? "" : "rows");
  }
  c.result(y);
}

// [.., c*r*r, h, w] becomes [.., c, h*r, w*r]
void import_pixel_shuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 r = c.integer("upscale_factor"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && r >= 1 && r <= 1024 && c.shape(x)[rank - 3] % (r * r) == 0),
            "the channels do not divide by the factor", c.ok() ? to_text(c.shape(x)) : "", fmt::format("{} x {}", r, r),
            "pt2.shuffle.factor");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 channels = s[rank - 3] / (r * r), h = s[rank - 2], w = s[rank - 1], n = c.type(x).elements() / (s[rank - 3] * h * w);
  const ValueId split = c.reshape(x, {n, channels, r, r, h, w}, "split");
  Shape out(s.begin(), s.end() - 3);
  out.insert(out.end(), {channels, h * r, w * r});
  c.result(c.reshape(c.permute(split, {0, 1, 4, 2, 5, 3}, "shuffled"), std::move(out)));
}

// [.., c, h*r, w*r] becomes [.., c*r*r, h, w]
void import_pixel_unshuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 r = c.integer("downscale_factor"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && r >= 1 && r <= 1024 && c.shape(x)[rank - 2] % r == 0 && c.shape(x)[rank - 1] % r == 0),
            "height and width do not divide by the factor", c.ok() ? to_text(c.shape(x)) : "", std::to_string(r), "pt2.shuffle.factor");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 channels = s[rank - 3], h = s[rank - 2] / r, w = s[rank - 1] / r, n = c.type(x).elements() / (channels * h * w * r * r);
  const ValueId split = c.reshape(x, {n, channels, h, r, w, r}, "split");
  Shape out(s.begin(), s.end() - 3);
  out.insert(out.end(), {channels * r * r, h, w});
  c.result(c.reshape(c.permute(split, {0, 1, 3, 5, 2, 4}, "shuffled"), std::move(out)));
}

// Channel g of group k becomes channel k of group g.
void import_channel_shuffle(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 groups = c.integer("groups"), rank = c.rank(x);
  c.require(!c.ok() || (rank >= 3 && groups >= 1 && c.shape(x)[1] % groups == 0), "the channels do not divide by the groups",
            c.ok() ? to_text(c.shape(x)) : "", std::to_string(groups), "pt2.shuffle.groups");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 inner = c.type(x).elements() / (s[0] * s[1]);
  const ValueId split = c.reshape(x, {s[0], groups, s[1] / groups, inner}, "split");
  c.result(c.reshape(c.permute(split, {0, 2, 1, 3}, "shuffled"), s));
}

}  // namespace deuteron::pt2
