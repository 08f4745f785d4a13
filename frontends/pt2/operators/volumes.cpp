// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling over three axes, [n,c,d,h,w], as operators of images: a convolution sees
// the slices of its depth side by side as channels of one image, so that its sum stays one sum; a
// pool works over height and width, then over depth.
#include "frontends/pt2/operators/volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostAttribute = 1 << 24;

struct DHW {
  i64 d = 1, h = 1, w = 1;
  HW hw() const { return {h, w}; }
};

// One or three integers, each at least `lowest`.
DHW triple(Call& c, std::string_view argument, i64 lowest) {
  const std::vector<i64> list = c.integers(argument);
  c.require(!c.ok() || list.size() == 1 || list.size() == 3,
            fmt::format("argument `{}` does not have three entries", argument),
            std::to_string(list.size()), "3", "pt2.argument.count");
  for (const i64 v : list)
    c.require(!c.ok() || (v >= lowest && v <= kMostAttribute),
              fmt::format("argument `{}` is out of range", argument), std::to_string(v),
              fmt::format("{}..{}", lowest, kMostAttribute), "pt2.argument.range");
  if (!c.ok()) return {lowest, lowest, lowest};
  return list.size() == 1 ? DHW{list[0], list[0], list[0]} : DHW{list[0], list[1], list[2]};
}

// [n,c,d,h,w] or [c,d,h,w] as [n,d,h,w,c], and back.
ValueId to_volume(Call& c, ValueId x) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank == 4 || rank == 5, "works on volumes, [n,c,d,h,w] or [c,d,h,w]",
            "rank " + std::to_string(rank), "4..5", "pt2.volume.rank");
  if (!c.ok()) return -1;
  Shape s = c.shape(x);
  if (rank == 4) s.insert(s.begin(), 1);
  return c.permute(c.reshape(x, std::move(s), "batch"), {0, 2, 3, 4, 1}, "in");
}
ValueId from_volume(Call& c, ValueId y, i64 rank) {
  if (!c.ok()) return -1;
  y = c.permute(y, {0, 4, 1, 2, 3}, rank == 5 ? "" : "out");
  if (!c.ok() || rank == 5) return y;
  const Shape s = c.shape(y);
  return c.reshape(y, {s.begin() + 1, s.end()});
}

// The slices that each tap of the depth sees, side by side as channels, those of a group together:
// [n*od, h, w, kd*c].
ValueId taps_as_channels(Call& c, ValueId x, i64 taps, i64 stride, i64 dilation, i64 groups) {
  if (!c.ok()) return -1;
  const Shape s = c.shape(x);
  const i64 count = (s[1] - dilation * (taps - 1) - 1) / stride + 1, plane = s[2] * s[3];
  c.require(s[1] >= dilation * (taps - 1) + 1, "the kernel is larger than the volume",
            std::to_string(dilation * (taps - 1) + 1), std::to_string(s[1]), "pt2.volume.extent");
  std::vector<ValueId> parts;
  for (i64 k = 0; k < taps && c.ok(); ++k) {
    const std::string name = "tap" + std::to_string(k);
    ValueId tap = x;
    if (k * dilation != 0 || count != s[1])
      tap = c.add(Slice{1, k * dilation, count, count == 1 ? 1 : stride}, {x}, name);
    parts.push_back(
        groups == 1 ? tap : c.reshape(tap, {s[0], count * plane, groups, s[4] / groups}, name));
  }
  if (!c.ok()) return -1;
  const ValueId joined = taps == 1 ? parts[0] : c.add(Concat{groups == 1 ? 4 : 3}, parts, "taps");
  return c.reshape(joined, {s[0] * count, s[2], s[3], taps * s[4]}, "images");
}

struct VolumeOperands {
  ValueId x, weight, bias = -1;
  i64 rank, groups;
};
VolumeOperands read_volume_operands(Call& c) {
  VolumeOperands o{c.tensor("input"), c.parameter("weight"), -1, 0, c.integer("groups")};
  if (c.has("bias")) o.bias = c.parameter("bias");
  c.require(!c.ok() || (c.rank(o.weight) == 5 && c.type(o.weight).elements() > 0),
            "the weight of a convolution of volumes has five axes",
            c.ok() ? to_text(c.shape(o.weight)) : "", "rank 5", "pt2.volume.rank");
  o.rank = c.rank(o.x);
  o.x = to_volume(c, o.x);
  if (!c.ok()) return o;
  const i64 channels = c.shape(o.x)[4];
  c.require(o.groups >= 1 && channels % o.groups == 0,
            "the input channels do not divide by the groups", std::to_string(channels),
            std::to_string(o.groups), "pt2.conv2d.groups");
  return o;
}

// Images [n*d,h,w,c] to the model's result.
void finish_volume(Call& c, const VolumeOperands& o, ValueId images) {
  if (!c.ok()) return;
  const i64 n = c.shape(o.x)[0];
  const Shape s = c.shape(images);
  c.result(from_volume(c, c.reshape(images, {n, s[0] / n, s[1], s[2], s[3]}, "volume"), o.rank));
}

ValueId padded_depth(Call& c, ValueId x, i64 before, i64 after) {
  if (before == 0 && after == 0) return x;
  Pad pad;
  pad.before = {0, before, 0, 0, 0}, pad.after = {0, after, 0, 0, 0};
  return padded(c, x, pad, "padded");
}

// "same" adds dilation * (kernel - 1) in all; of an odd number the extra one goes behind.
void read_padding(Call& c, const Shape& weight, DHW dilation, DHW* before, DHW* after) {
  const Argument* a = c.argument("padding");
  if (!a || a->kind != Argument::Kind::text) {
    *before = *after = triple(c, "padding", 0);
    return;
  }
  const std::string padding = c.text("padding");
  c.require(padding == "same" || padding == "valid", "padding is neither same nor valid", padding,
            "same, valid", "pt2.conv2d.padding");
  *before = *after = {0, 0, 0};
  if (!c.ok() || padding == "valid") return;
  const DHW total{dilation.d * (weight[2] - 1), dilation.h * (weight[3] - 1),
                  dilation.w * (weight[4] - 1)};
  *before = {total.d / 2, total.h / 2, total.w / 2};
  *after = {total.d - before->d, total.h - before->h, total.w - before->w};
}

}  // namespace

void import_conv3d(Call& c) {
  const VolumeOperands o = read_volume_operands(c);
  const DHW stride = triple(c, "stride", 1), dilation = triple(c, "dilation", 1);
  if (!c.ok()) return;
  const Shape w = c.shape(o.weight);
  DHW before, after;
  read_padding(c, w, dilation, &before, &after);
  const ValueId x = padded_depth(c, o.x, before.d, after.d);
  Conv2d op;
  op.stride = stride.hw(), op.dilation = dilation.hw(), op.groups = o.groups;
  op.pad_before = before.hw(), op.pad_after = after.hw();
  const ValueId weight = c.reshape(c.permute(o.weight, {0, 3, 4, 2, 1}, "weight"),
                                   {w[0], w[3], w[4], w[2] * w[1]}, "weight");
  std::vector<ValueId> inputs{taps_as_channels(c, x, w[2], stride.d, dilation.d, o.groups), weight};
  if (o.bias >= 0) inputs.push_back(o.bias);
  finish_volume(c, o, c.add(op, std::move(inputs), "images"));
}

namespace {

// Each tap of the depth makes slices of its own: all of them as channels of one image.
void finish_tiles(Call& c, const VolumeOperands& o, ConvTranspose2d op) {
  const Shape w = c.shape(o.weight), s = c.shape(o.x);
  const i64 taps = w[2], oc = w[1];
  const ValueId weight = c.reshape(c.permute(o.weight, {2, 1, 3, 4, 0}, "weight"),
                                   {taps * oc, w[3], w[4], w[0]}, "weight");
  std::vector<ValueId> inputs{c.reshape(o.x, {s[0] * s[1], s[2], s[3], s[4]}, "images"), weight};
  if (o.bias >= 0)
    inputs.push_back(
        taps == 1
            ? o.bias
            : c.add(Concat{0}, std::vector<ValueId>(static_cast<size_t>(taps), o.bias), "bias"));
  const ValueId y = c.add(op, std::move(inputs), "out");
  if (!c.ok()) return;
  const i64 h = c.shape(y)[1], v = c.shape(y)[2];
  const ValueId slices =
      c.permute(c.reshape(y, {s[0] * s[1], h, v, taps, oc}, "split"), {0, 3, 1, 2, 4}, "slices");
  finish_volume(c, o, c.reshape(slices, {s[0] * s[1] * taps, h, v, oc}, "slices"));
}

}  // namespace

void import_conv_transpose3d(Call& c) {
  const VolumeOperands o = read_volume_operands(c);
  const DHW stride = triple(c, "stride", 1), dilation = triple(c, "dilation", 1),
            pad = triple(c, "padding", 0), more = triple(c, "output_padding", 0);
  if (!c.ok()) return;
  ConvTranspose2d op;
  op.stride = stride.hw(), op.dilation = dilation.hw(), op.pad = pad.hw(),
  op.output_pad = more.hw(), op.groups = o.groups;
  const Shape w = c.shape(o.weight), s = c.shape(o.x);
  if (w[2] == stride.d && dilation.d == 1 && pad.d == 0 && more.d == 0 && o.groups == 1)
    return finish_tiles(c, o, op);
  // A convolution over slices with empty ones between them, its taps in reverse.
  const i64 span = dilation.d * (w[2] - 1), first = pad.d - span,
            last = (s[1] - 1) * stride.d + span - pad.d + more.d;
  c.require(more.d < std::max(stride.d, dilation.d),
            "the output padding must be less than the stride or the dilation",
            std::to_string(more.d), std::to_string(std::max(stride.d, dilation.d) - 1),
            "pt2.volume.extent");
  c.require(last - first <= kMostAttribute, "the result has too many slices",
            std::to_string(last - first), std::to_string(kMostAttribute), "pt2.volume.extent");
  if (!c.ok()) return;
  Axes slices, taps;
  for (i64 at = first; at <= last; ++at)
    slices.push_back(at >= 0 && at % stride.d == 0 && at / stride.d < s[1] ? at / stride.d : s[1]);
  c.require(static_cast<i64>(slices.size()) > span, "the padding leaves nothing of the result",
            std::to_string(pad.d), "", "pt2.volume.extent");
  if (!c.ok()) return;
  for (i64 k = w[2]; k-- > 0;) taps.push_back(k);
  const ValueId x = picked(c, padded_depth(c, o.x, 0, 1), 1, std::move(slices), "stuffed");
  const i64 g = o.groups;
  ValueId weight = c.reshape(o.weight, {g, w[0] / g, w[1], w[2], w[3], w[4]}, "weight");
  weight =
      c.permute(picked(c, weight, 3, std::move(taps), "reversed"), {0, 2, 4, 5, 3, 1}, "weight");
  weight = c.reshape(weight, {g * w[1], w[3], w[4], w[2] * w[0] / g}, "weight");
  std::vector<ValueId> inputs{taps_as_channels(c, x, w[2], 1, dilation.d, g), weight};
  if (o.bias >= 0) inputs.push_back(o.bias);
  finish_volume(c, o, c.add(op, std::move(inputs), "images"));
}

namespace {

// A pool over height and width, then one over depth. `make` gives the operator for a window.
struct PoolWindow {
  HW kernel, stride, pad, dilation;
};
template <class Make>
void finish_pool(Call& c, ValueId x, DHW kernel, DHW stride, DHW pad, DHW dilation, Make make,
                 double factor = 1) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || (pad.d * 2 <= kernel.d && pad.h * 2 <= kernel.h && pad.w * 2 <= kernel.w),
            "padding is more than half the kernel", fmt::format("{},{},{}", pad.d, pad.h, pad.w),
            fmt::format("{},{},{}", kernel.d / 2, kernel.h / 2, kernel.w / 2), "pt2.pool.padding");
  ValueId y = to_volume(c, x);
  if (!c.ok()) return;
  const Shape s = c.shape(y);
  i64 h = s[2], w = s[3];
  y = c.reshape(y, {s[0] * s[1], h, w, s[4]}, "images");
  if (const HW k = kernel.hw(), step = stride.hw(); k != HW{1, 1} || step != HW{1, 1}) {
    y = c.add(make(PoolWindow{k, step, pad.hw(), dilation.hw()}), {y}, "planes");
    if (!c.ok()) return;
    h = c.shape(y)[1], w = c.shape(y)[2];
  }
  y = c.reshape(y, {s[0], s[1], h * w, s[4]}, "columns");
  if (kernel.d != 1 || stride.d != 1)
    y = c.add(make(PoolWindow{{kernel.d, 1}, {stride.d, 1}, {pad.d, 0}, {dilation.d, 1}}), {y},
              "depth");
  if (factor != 1) y = product(c, y, number(c, factor), "scaled");
  if (!c.ok()) return;
  const i64 d = c.shape(y)[1];
  c.result(from_volume(c, c.reshape(y, {s[0], d, h, w, s[4]}, "volume"), rank));
}

DHW stride_of_volume(Call& c, DHW kernel) {
  return c.has("stride") && !c.integers("stride").empty() ? triple(c, "stride", 1) : kernel;
}

Op average_of(const PoolWindow& w, bool ceil_mode, bool count_pad, bool fixed) {
  AvgPool2d op;
  op.kernel = w.kernel, op.stride = w.stride, op.pad = w.pad;
  op.ceil_mode = ceil_mode, op.count_include_pad = count_pad;
  if (fixed) op.divisor = w.kernel.h * w.kernel.w;
  return op;
}

Op largest_of(const PoolWindow& w, bool ceil_mode) {
  MaxPool2d op;
  op.kernel = w.kernel, op.stride = w.stride, op.pad = w.pad, op.dilation = w.dilation;
  op.ceil_mode = ceil_mode;
  return op;
}

}  // namespace

static void import_avg_pool3d(Call& c) {
  const ValueId x = c.tensor("self");
  const DHW kernel = triple(c, "kernel_size", 1), stride = stride_of_volume(c, kernel),
            pad = triple(c, "padding", 0);
  const bool ceil_mode = c.boolean("ceil_mode"), count_pad = c.boolean("count_include_pad"),
             fixed = c.has("divisor_override");
  double factor = 1;
  if (fixed) {
    const i64 divisor = c.integer("divisor_override");
    c.require(!c.ok() || (divisor > 0 && divisor <= kMaxElements),
              "divisor_override is out of range", std::to_string(divisor), "1..",
              "pt2.pool.divisor");
    factor = static_cast<double>(kernel.d) * static_cast<double>(kernel.h) *
             static_cast<double>(kernel.w) / static_cast<double>(divisor);
  }
  finish_pool(
      c, x, kernel, stride, pad, {},
      [&](const PoolWindow& w) { return average_of(w, ceil_mode, count_pad, fixed); }, factor);
}

static void import_max_pool3d(Call& c) {
  const ValueId x = c.tensor("self");
  const DHW kernel = triple(c, "kernel_size", 1), stride = stride_of_volume(c, kernel),
            pad = triple(c, "padding", 0);
  const bool ceil_mode = c.boolean("ceil_mode");
  finish_pool(c, x, kernel, stride, pad, triple(c, "dilation", 1),
              [&](const PoolWindow& w) { return largest_of(w, ceil_mode); });
}

namespace {

// Window k of an adaptive pool reaches from first to end, which it leaves out.
i64 first_of(i64 k, i64 in, i64 out) { return k * in / out; }
i64 end_of(i64 k, i64 in, i64 out) { return ((k + 1) * in + out - 1) / out; }

Weights shares(i64 in, i64 out) {
  Weights w(out, in);
  for (i64 k = 0; k < out; ++k)
    for (i64 at = first_of(k, in, out); at < end_of(k, in, out); ++at)
      w.at(k, at) = 1.0f / static_cast<float>(end_of(k, in, out) - first_of(k, in, out));
  return w;
}

// What the windows see, each made as long as the longest by repeating its last element.
Axes equal_windows(i64 in, i64 out, i64* longest) {
  Axes index;
  *longest = 0;
  for (i64 k = 0; k < out; ++k)
    *longest = std::max(*longest, end_of(k, in, out) - first_of(k, in, out));
  for (i64 k = 0; k < out; ++k)
    for (i64 at = 0; at < *longest; ++at)
      index.push_back(std::min(first_of(k, in, out) + at, end_of(k, in, out) - 1));
  return index;
}

}  // namespace

static void import_adaptive_pool3d(Call& c) {
  const ValueId x = c.tensor("self");
  const bool average = c.operator_name() != "adaptive_max_pool3d";
  const DHW out = triple(c, "output_size", 1);
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank == 4 || rank == 5, "works on volumes, [n,c,d,h,w] or [c,d,h,w]",
            "rank " + std::to_string(rank), "4..5", "pt2.volume.rank");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const std::array<i64, 3> wanted{out.d, out.h, out.w};
  std::array<i64, 3> kernel{};
  ValueId y = x;
  for (size_t k = 0; k < 3; ++k) {
    const i64 axis = rank - 3 + static_cast<i64>(k), in = s[axis];
    kernel[k] = in / wanted[k];
    if (in % wanted[k] == 0) continue;
    c.require(in * wanted[k] <= kMostAttribute, "pools over too many uneven windows",
              fmt::format("{} x {}", in, wanted[k]), std::to_string(kMostAttribute),
              "pt2.pool.adaptive");
    if (!c.ok()) return;
    if (average)
      y = weighted_along(c, y, axis, shares(in, wanted[k]), "axis" + std::to_string(k)),
      kernel[k] = 1;
    else
      y = picked(c, y, axis, equal_windows(in, wanted[k], &kernel[k]), "axis" + std::to_string(k));
  }
  const DHW window{kernel[0], kernel[1], kernel[2]};
  finish_pool(c, y, window, window, {0, 0, 0}, {}, [&](const PoolWindow& w) {
    return average ? average_of(w, false, true, false) : largest_of(w, false);
  });
}

static constexpr ImportRow kVolumesRows[] = {
    {"aten._adaptive_avg_pool3d.default", import_adaptive_pool3d},
    {"aten.adaptive_avg_pool3d.default", import_adaptive_pool3d},
    {"aten.adaptive_max_pool3d.default", import_adaptive_pool3d},
    {"aten.avg_pool3d.default", import_avg_pool3d},
    {"aten.conv3d.default", import_conv3d},
    {"aten.conv3d.padding", import_conv3d},
    {"aten.conv_transpose3d.input", import_conv_transpose3d},
    {"aten.max_pool3d.default", import_max_pool3d},
    {"aten.max_pool3d_with_indices.default", import_max_pool3d},
};
ImportRows volumes_rows() { return kVolumesRows; }

}  // namespace deuteron::pt2
