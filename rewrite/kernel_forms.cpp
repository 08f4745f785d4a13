#include "rewrite/kernel_forms.h"

#include <algorithm>
#include <numeric>

#include "ops/conv_transpose2d/stock_limits.h"
#include "ops/permute/collapse.h"
#include "ops/window.h"
#include "rewrite/view_rules.h"

namespace deuteron {
namespace {

// [oc,kh,kw,c/groups] with zeros between the taps, behind them up to `kernel`, and for the channels of other groups.
std::vector<int8_t> spread_weight(std::span<const int8_t> from, const Shape& w, const ConvTranspose2d& a, HW kernel) {
  const i64 oc = w[0], cg = w[3], channels = cg * a.groups;
  std::vector<int8_t> to(static_cast<size_t>(oc * kernel.h * kernel.w * channels), 0);
  for (i64 o = 0; o < oc; ++o)
    for (i64 h = 0; h < w[1]; ++h)
      for (i64 k = 0; k < w[2]; ++k) {
        const i64 first = o / (oc / a.groups) * cg;
        const auto begin = from.begin() + ((o * w[1] + h) * w[2] + k) * cg;
        std::copy_n(begin, cg, to.begin() + ((o * kernel.h + h * a.dilation.h) * kernel.w + k * a.dilation.w) * channels + first);
      }
  return to;
}

}  // namespace

// conv_transpose2d with dilation, groups or output padding, or one that the stock kernel computes wrongly or outside its tensors
//   becomes   one with zeros in its weight; where that is not enough, without padding, and slices of its result
std::optional<Patch> transposed_to_kernel_form(const Graph& g, const Uses&, NodeId root) {
  const ConvTranspose2d* conv = op_as<ConvTranspose2d>(g, root);
  if (!conv) return std::nullopt;
  const Node& node = g.nodes[root];
  const GraphValue& weight = g.values[node.inputs[1]];
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || !weight.constant || weight.type.dtype != DType::s8) return std::nullopt;
  const Shape& w = weight.type.shape;
  const auto differs = [&](const ConvTranspose2d& a, const Shape& kernel, const Shape& out) {
    return why_stock_conv_transpose2d_differs(kernel_args(a, x.shape, kernel, out)) != nullptr;
  };
  const bool plain = conv->dilation == HW{1, 1} && conv->groups == 1 && conv->output_pad == HW{0, 0};
  if (plain && !differs(*conv, w, y.shape)) return std::nullopt;

  ConvTranspose2d moved = *conv;
  moved.dilation = {1, 1};
  moved.groups = 1;
  moved.output_pad = {0, 0};
  // Zeros behind the last tap stand for the output padding.
  HW kernel{conv->dilation.h * (w[1] - 1) + 1 + conv->output_pad.h, conv->dilation.w * (w[2] - 1) + 1 + conv->output_pad.w};
  Shape whole = y.shape;
  const bool crops = differs(moved, {w[0], kernel.h, kernel.w, x.shape[3]}, y.shape);
  if (crops) {
    kernel = {std::max({kernel.h, kernel.h - conv->pad.h, conv->stride.h}), std::max({kernel.w, kernel.w - conv->pad.w, conv->stride.w})};
    moved.pad = {0, 0};
    whole[1] = (x.shape[1] - 1) * conv->stride.h + kernel.h;
    whole[2] = (x.shape[2] - 1) * conv->stride.w + kernel.w;
  }
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  const Type type{DType::s8, {w[0], kernel.h, kernel.w, x.shape[3]}, weight.type.quant};
  inputs[1] = b.constant(type, constant_of(spread_weight(weight.constant->as<int8_t>(), w, *conv, kernel)), weight.name);
  if (!crops) return b.replace_root(moved, std::move(inputs));
  ValueId v = b.add(moved, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  if (whole[1] != y.shape[1]) v = b.add(Slice{1, conv->pad.h, y.shape[1], 1}, {v}, y.quant);
  if (whole[2] != y.shape[2]) v = b.add(Slice{2, conv->pad.w, y.shape[2], 1}, {v}, y.quant);
  return b.replace_root(v);
}

// The rows or columns that the windows along one axis see, window after window. A tap in the padding repeats another one of its window,
// which changes no maximum.
static Axes taps_of_windows(i64 extent, i64 out, i64 kernel, i64 stride, i64 pad, i64 dilation) {
  Axes index;
  for (i64 o = 0; o < out; ++o) {
    const i64 first = o * stride - pad;
    i64 inside = -1;
    for (i64 k = 0; k < kernel && inside < 0; ++k)
      if (const i64 at = first + k * dilation; at >= 0 && at < extent) inside = at;
    if (inside < 0) return {};
    for (i64 k = 0; k < kernel; ++k) {
      const i64 at = first + k * dilation;
      index.push_back(at >= 0 && at < extent ? at : inside);
    }
  }
  return index;
}

// max_pool2d with dilation   becomes   gathers of the taps along both axes -> max_pool2d over neighbours
std::optional<Patch> dilated_pool_to_gather(const Graph& g, const Uses&, NodeId root) {
  const MaxPool2d* pool = op_as<MaxPool2d>(g, root);
  if (!pool || pool->dilation == HW{1, 1}) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  const Axes rows = taps_of_windows(x.shape[1], y.shape[1], pool->kernel.h, pool->stride.h, pool->pad.h, pool->dilation.h);
  const Axes columns = taps_of_windows(x.shape[2], y.shape[2], pool->kernel.w, pool->stride.w, pool->pad.w, pool->dilation.w);
  if (rows.empty() || columns.empty()) return std::nullopt;
  MaxPool2d plain;
  plain.kernel = plain.stride = pool->kernel;
  plain.bounds = pool->bounds;
  PatchBuilder b(g, root, "");
  const ValueId high = b.add(Gather{1, rows}, {node.inputs[0]}, x.quant);
  const ValueId wide = b.add(Gather{2, columns}, {high}, x.quant);
  return b.replace_root(plain, {wide});
}

// pad with negative extents   becomes   slices, and a pad of what is left
std::optional<Patch> crop_to_slices(const Graph& g, const Uses&, NodeId root) {
  const Pad* pad = op_as<Pad>(g, root);
  if (!pad) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  const auto negative = [](i64 v) { return v < 0; };
  if (std::none_of(pad->before.begin(), pad->before.end(), negative) && std::none_of(pad->after.begin(), pad->after.end(), negative))
    return std::nullopt;
  PatchBuilder b(g, root, "");
  ValueId v = node.inputs[0];
  Pad rest = *pad;
  for (size_t k = 0; k < rest.before.size(); ++k) {
    const i64 front = std::max<i64>(0, -rest.before[k]), back = std::max<i64>(0, -rest.after[k]);
    const i64 kept = x.shape[k] - front - back;
    if (kept < 1) return std::nullopt;  // nothing of x is left: all padding
    if (front + back > 0) v = b.add(Slice{static_cast<i64>(k), front, kept, 1}, {v}, x.quant);
    rest.before[k] = std::max<i64>(0, rest.before[k]);
    rest.after[k] = std::max<i64>(0, rest.after[k]);
  }
  const auto zero = [](i64 e) { return e == 0; };
  if (std::all_of(rest.before.begin(), rest.before.end(), zero) && std::all_of(rest.after.begin(), rest.after.end(), zero)) {
    if (x.quant != y.quant) return std::nullopt;
    return b.replace_root(v);
  }
  return b.replace_root(rest, {v});
}

static bool takes_axis(i64 extent, i64 out, i64 kernel, i64 stride, i64 pad, i64 dilation) {
  for (const i64 v : {extent, out, kernel, stride, pad, dilation})
    if (v > INT32_MAX) return false;
  return why_not_window(static_cast<i32>(extent), static_cast<i32>(out), static_cast<i32>(kernel), static_cast<i32>(stride),
                        static_cast<i32>(pad), static_cast<i32>(dilation)) == nullptr;
}

bool takes_windows(const Conv2d& a, const Shape& x, const Shape& w, const Shape& y) {
  return takes_axis(x[1], y[1], w[1], a.stride.h, a.pad_before.h, a.dilation.h) &&
         takes_axis(x[2], y[2], w[2], a.stride.w, a.pad_before.w, a.dilation.w);
}

// conv2d with a window that begins far behind the image   becomes   pad -> conv2d
std::optional<Patch> far_padding_to_pad(const Graph& g, const Uses&, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type& x = g.type(node.inputs[0]);
  if (x.dtype != DType::s8 || takes_windows(*conv, x.shape, g.type(node.inputs[1]).shape, g.type(node.outputs[0]).shape))
    return std::nullopt;
  Conv2d plain = *conv;
  plain.pad_before = plain.pad_after = {};
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  const Pad pad{{0, conv->pad_before.h, conv->pad_before.w, 0}, {0, conv->pad_after.h, conv->pad_after.w, 0}, 0};
  inputs[0] = b.add(pad, {node.inputs[0]}, x.quant, g.values[node.inputs[0]].name + ".padded");
  return b.replace_root(plain, std::move(inputs));
}

// permute over more axes than the kernel has   becomes   two: the first one as many as the kernel has, what is left is nearer to none
std::optional<Patch> split_permute(const Graph& g, const Uses&, NodeId root) {
  const Permute* permute = op_as<Permute>(g, root);
  if (!permute) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8) return std::nullopt;
  const CollapsedPermute whole = collapse(x.shape, permute->perm);
  const size_t rank = whole.shape.size();
  if (rank <= kKernelAxes || rank > 8) return std::nullopt;
  Axes first(rank), best, rest;
  std::iota(first.begin(), first.end(), 0);
  size_t left = rank;
  while (std::next_permutation(first.begin(), first.end())) {
    if (collapse(whole.shape, first).shape.size() > kKernelAxes) continue;
    Axes second(rank);
    const Axes back = inverse(first);
    for (size_t k = 0; k < rank; ++k) second[k] = back[whole.perm[k]];
    if (const size_t axes = collapse(permuted(whole.shape, first), second).shape.size(); axes < left)
      best = first, rest = second, left = axes;
  }
  if (best.empty()) return std::nullopt;
  PatchBuilder b(g, root, "");
  const ValueId flat = b.add(Reshape{whole.shape}, {node.inputs[0]}, x.quant);
  const ValueId half = b.add(Permute{best}, {flat}, x.quant);
  const ValueId done = b.add(Permute{rest}, {half}, x.quant, g.values[node.outputs[0]].name);
  return b.replace_root(b.add(Reshape{y.shape}, {done}, y.quant));
}

// linear with per-channel weights   becomes   a 1x1 convolution over one row of pixels, which has a multiplier for each channel
std::optional<Patch> linear_to_conv(const Graph& g, const Uses&, NodeId root) {
  const Linear* linear = op_as<Linear>(g, root);
  if (!linear) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || !w.quant.per_channel()) return std::nullopt;
  const i64 in = w.shape[1], out = w.shape[0], rows = x.elements() / in;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = b.add(Reshape{{1, rows, 1, in}}, {node.inputs[0]}, x.quant);
  inputs[1] = b.add(Reshape{{out, 1, 1, in}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  Conv2d conv;
  conv.bounds = linear->bounds;
  const ValueId pixels = b.add(conv, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {pixels});
}

}  // namespace deuteron
