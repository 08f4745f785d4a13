// SPDX-License-Identifier: Apache-2.0
// Normalization: by statistics that the model holds, or by those of each sample.
#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {
namespace {

// Axes from `axis` on, by their extents.
std::vector<i64> last_extents(Call& c, const Operand& x, i64 axis) {
  const Shape shape = c.shape(x);
  return c.ok() ? std::vector<i64>(shape.begin() + axis, shape.end()) : std::vector<i64>{1};
}

// A factor or summand that broadcasts to the normalized axes; torch wants exactly their extents.
void add_affine(Call& c, Args& args, std::string_view name, size_t operand,
                const std::vector<i64>& extents) {
  if (!c.has(operand)) return;
  Operand v = c.operand(operand);
  if (c.ok() && c.shape(v) != extents) {
    v = numel(c.shape(v)) == numel(extents)
            ? view(c, v, extents, name)
            : c.torch("aten.expand.default", {{"self", v}, {"size", extents}}, name);
  }
  args.emplace_back(name, v);
}

}  // namespace

static void import_batch_norm(Call& c) {
  c.require(c.integer("training_mode", 0) == 0,
            "normalizes by statistics of the batch: the model was exported in training mode", "1",
            "0", "onnx.batch_norm.training");
  c.result(c.torch("aten.batch_norm.default", {{"input", c.operand(0)},
                                               {"weight", c.operand(1)},
                                               {"bias", c.operand(2)},
                                               {"running_mean", c.operand(3)},
                                               {"running_var", c.operand(4)},
                                               {"training", false},
                                               {"momentum", 0.0},
                                               {"eps", c.number("epsilon", 1e-5)},
                                               {"cudnn_enabled", false}}));
}

// The mean over some axes, and one divided by the deviation.
static void finish_statistics(Call& c, const Operand& x, const std::vector<i64>& axes,
                              double epsilon) {
  const auto mean_of = [&](const Operand& v, const char* suffix) {
    return c.torch("aten.mean.dim", {{"self", v}, {"dim", axes}, {"keepdim", true}}, suffix);
  };
  const Operand mean = mean_of(x, "mean");
  if (c.wants(1)) c.result(1, mean);
  if (!c.wants(2)) return;
  const Operand apart = difference(c, x, mean, "apart");
  const Operand variance =
      mean_of(c.torch("aten.square.default", {{"self", apart}}, "squares"), "variance");
  c.result(2, c.torch("aten.rsqrt.default", {{"self", shifted(c, variance, epsilon, "above")}},
                      "inverse"));
}

static void import_layer_norm(Call& c) {
  const Operand x = c.operand(0);
  const i64 axis = c.axis(c.integer("axis", -1), c.rank(x));
  const std::vector<i64> extents = last_extents(c, x, axis);
  Args args{{"input", x}, {"normalized_shape", extents}, {"eps", c.number("epsilon", 1e-5)}};
  add_affine(c, args, "weight", 1, extents);
  add_affine(c, args, "bias", 2, extents);
  c.result(c.torch("aten.layer_norm.default", std::move(args)));
  if (!c.wants(1) && !c.wants(2)) return;
  std::vector<i64> axes(extents.size());
  std::iota(axes.begin(), axes.end(), axis);
  finish_statistics(c, x, axes, c.number("epsilon", 1e-5));
}

static void import_rms_norm(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> extents = last_extents(c, x, c.axis(c.integer("axis", -1), c.rank(x)));
  Args args{{"input", x}, {"normalized_shape", extents}, {"eps", c.number("epsilon", 1e-5)}};
  add_affine(c, args, "weight", 1, extents);
  c.result(c.torch("aten.rms_norm.default", std::move(args)));
}

static void import_instance_norm(Call& c) {
  c.result(c.torch("aten.instance_norm.default", {{"input", c.operand(0)},
                                                  {"weight", c.operand(1)},
                                                  {"bias", c.operand(2)},
                                                  {"running_mean", Arg::none()},
                                                  {"running_var", Arg::none()},
                                                  {"use_input_stats", true},
                                                  {"momentum", 0.0},
                                                  {"eps", c.number("epsilon", 1e-5)},
                                                  {"cudnn_enabled", false}}));
}

// Up to opset 20 a factor and a summand for each group, since then for each channel.
static void import_group_norm(Call& c) {
  const Operand x = c.operand(0);
  const i64 groups = c.integer("num_groups", 0);
  Operand weight = c.operand(1), bias = c.operand(2);
  c.require(!c.ok() || c.rank(x) >= 2, "normalizes channels of a tensor that has none",
            std::to_string(c.rank(x)), "2", "onnx.norm.rank");
  if (!c.ok()) return;
  const i64 channels = c.shape(x)[1];
  c.require(groups >= 1 && channels % groups == 0, "the groups do not divide the channels",
            std::to_string(groups), std::to_string(channels), "onnx.norm.groups");
  if (!c.ok()) return;
  const auto by_channel = [&](const Operand& v, const char* name) {
    if (numel(c.shape(v)) == channels) return v;
    const Operand wide = c.torch(
        "aten.expand.default",
        {{"self", view(c, v, {groups, 1}, name)}, {"size", Shape{groups, channels / groups}}},
        name);
    return view(c, wide, {channels}, name);
  };
  weight = by_channel(weight, "weight"), bias = by_channel(bias, "bias");
  c.result(c.torch("aten.group_norm.default", {{"input", x},
                                               {"num_groups", groups},
                                               {"weight", weight},
                                               {"bias", bias},
                                               {"eps", c.number("epsilon", 1e-5)}}));
}

// (x - mean) / deviation over some axes
static void import_mean_variance(Call& c) {
  constexpr double kEpsilon = 1e-9;
  const Operand x = c.operand(0);
  std::vector<i64> axes = c.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  axes = c.axes(std::move(axes), c.rank(x));
  const auto mean = [&](const Operand& v, const char* suffix) {
    return c.torch("aten.mean.dim", {{"self", v}, {"dim", axes}, {"keepdim", true}}, suffix);
  };
  const Operand deviation = difference(c, x, mean(x, "mean"), "deviation");
  const Operand variance =
      mean(c.torch("aten.square.default", {{"self", deviation}}, "squares"), "variance");
  const Operand root =
      shifted(c, c.torch("aten.sqrt.default", {{"self", variance}}, "root"), kEpsilon, "below");
  c.result(c.torch("aten.div.Tensor", {{"self", deviation}, {"other", root}}));
}

Operand divided_by_norm(Call& c, const Operand& x, i64 axis, i64 p, std::string_view suffix) {
  Operand y =
      c.torch(p == 1 ? "aten.abs.default" : "aten.square.default", {{"self", x}}, "magnitudes");
  y = c.torch("aten.sum.dim_IntList", over_axes(y, {axis}, true), "sum");
  if (p == 2) y = c.torch("aten.sqrt.default", {{"self", y}}, "norm");
  y = c.torch("aten.clamp_min.default",
              {{"self", y}, {"min", static_cast<double>(std::numeric_limits<float>::min())}},
              "above");
  return c.torch("aten.div.Tensor", {{"self", x}, {"other", y}}, suffix);
}

static void import_lp_norm(Call& c) {
  const Operand x = c.operand(0);
  const i64 axis = c.axis(c.integer("axis", -1), c.rank(x)), p = c.integer("p", 2);
  c.require(p == 1 || p == 2, "normalizes by another norm", std::to_string(p), "1, 2",
            "onnx.norm.p");
  c.result(divided_by_norm(c, x, axis, p, ""));
}

// x / (bias + alpha * mean of the squares of the neighbouring channels) ^ beta; beyond the first
// and the last channel there are zeros.
static void import_local_response_norm(Call& c) {
  const Operand x = c.operand(0);
  c.need_attribute("size");
  const i64 size = c.integer("size", 1);
  const Shape s = c.shape(x);
  c.require(!c.ok() || s.size() >= 3, "normalizes channels of a tensor that has none",
            std::to_string(s.size()), "3", "onnx.norm.rank");
  c.require(!c.ok() || (size >= 1 && size <= 1 << 16), "has neighbours out of range",
            std::to_string(size), "1..65536", "onnx.norm.size");
  if (!c.ok()) return;
  const i64 before = (size - 1) / 2, after = size - 1 - before;
  const Shape columns{s[0], 1, s[1], numel(s) / (s[0] * s[1])};
  Operand y = view(c, c.torch("aten.square.default", {{"self", x}}, "squares"), columns, "columns");
  if (size > 1) y = padded(c, y, {before, 0}, {after, 0}, 0, "padded");
  y = averaged(c, y, {size, 1}, {1, 1}, "means");
  y = shifted(c, scaled(c, view(c, y, s, "channels"), c.number("alpha", 1e-4), "scaled"),
              c.number("bias", 1), "shifted");
  y = c.torch("aten.pow.Tensor_Scalar", {{"self", y}, {"exponent", c.number("beta", 0.75)}},
              "below");
  c.result(c.torch("aten.div.Tensor", {{"self", x}, {"other", y}}));
}

static constexpr ImportRow kNormalizationRows[] = {
    {"BatchNormalization", import_batch_norm},
    {"GroupNormalization", import_group_norm},
    {"InstanceNormalization", import_instance_norm},
    {"LayerNormalization", import_layer_norm},
    {"LRN", import_local_response_norm},
    {"LpNormalization", import_lp_norm},
    {"MeanVarianceNormalization", import_mean_variance},
    {"RMSNormalization", import_rms_norm},
    {"SimplifiedLayerNormalization", import_rms_norm},
};
ImportRows normalization_rows() { return kNormalizationRows; }

}  // namespace deuteron::onnx
