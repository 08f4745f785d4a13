// SPDX-License-Identifier: Apache-2.0
// Normalization with the statistics of the values themselves: layer and RMS norm; group and
// instance norm, from operators that have int8 forms.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/reductions.h"

namespace deuteron::pt2 {

namespace {

// x * (1 / sqrt(mean(of x squared) + epsilon))
ValueId scaled_by_root(Call& c, ValueId x, ValueId mean_squared, double epsilon,
                       std::string_view suffix) {
  const ValueId plus = c.add(
      Add{}, {mean_squared, c.constant("eps", {}, {static_cast<float>(epsilon)})}, "plus_eps");
  return c.add(Mul{}, {x, c.add(Unary{UnaryFn::rsqrt, 0}, {plus}, "rsqrt")}, suffix);
}

double epsilon_of(Call& c, std::string_view argument) {
  const double eps = c.number(argument);
  c.require(!c.ok() || (eps >= 0 && eps < 1e6), "eps is out of range", std::to_string(eps),
            "0..1e6", "pt2.norm.eps");
  return eps;
}

Axes last_axes(Call& c, ValueId x) {
  const std::vector<i64> normalized = c.integers("normalized_shape");
  const i64 rank = c.rank(x), count = static_cast<i64>(normalized.size());
  const bool fits = c.ok() && count >= 1 && count <= rank &&
                    std::equal(normalized.begin(), normalized.end(), c.shape(x).end() - count);
  c.require(!c.ok() || fits, "normalized_shape is not that of the last axes", to_text(normalized),
            to_text(c.shape(x)), "pt2.norm.shape");
  Axes axes(c.ok() ? static_cast<size_t>(count) : 0);
  std::iota(axes.begin(), axes.end(), rank - count);
  return axes;
}

// weight and bias with one element for each index of axis 1: applied with that axis last, where it
// costs least.
ValueId channel_affine(Call& c, ValueId y) {
  if (!c.ok() || (!c.has("weight") && !c.has("bias"))) return y;
  const i64 rank = c.rank(y);
  Axes to_last{0};
  for (i64 k = 2; k < rank; ++k) to_last.push_back(k);
  to_last.push_back(1);
  y = c.permute(y, to_last, "channels_last");
  if (c.has("weight")) y = c.add(Mul{}, {y, c.tensor("weight")}, "times_weight");
  if (c.has("bias")) y = c.add(Add{}, {y, c.tensor("bias")}, "plus_bias");
  return c.permute(y, inverse(to_last));
}

// Over each image's channel: mean over everything but the first two axes, which becomes the mean of
// each group's channels. Small tensors are all that is reshaped, so that images stay as they are
// stored.
ValueId mean_of_groups(Call& c, ValueId x, i64 groups, std::string_view suffix) {
  if (!c.ok()) return -1;
  const Shape shape = c.shape(x);
  const i64 rank = c.rank(x), n = shape[0], channels = shape[1];
  Axes rest;
  for (i64 k = 2; k < rank; ++k) rest.push_back(k);
  ValueId m = reduced(c, Reduce::kMean, x, rest, suffix);
  if (groups == channels || !c.ok()) return m;
  Shape each = c.shape(m);
  m = c.reshape(m, {n, groups, channels / groups}, suffix);
  m = reduced(c, Reduce::kMean, m, {2}, suffix);
  m = c.add(Expand{{n, groups, channels / groups}}, {m}, suffix);
  return c.reshape(m, std::move(each), suffix);
}

void finish_group_norm(Call& c, ValueId x, i64 groups, double epsilon) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank >= 2, "group normalization takes rank 2 and above",
            std::to_string(rank), "2", "pt2.norm.rank");
  c.require(!c.ok() || (groups >= 1 && c.shape(x)[1] % groups == 0),
            "the groups do not divide the channels", std::to_string(groups),
            c.ok() && rank >= 2 ? std::to_string(c.shape(x)[1]) : "", "pt2.norm.groups");
  if (!c.ok()) return;
  Add difference;
  difference.alpha = -1;
  const ValueId deviation =
      c.add(difference, {x, mean_of_groups(c, x, groups, "mean")}, "deviation");
  const ValueId squared = c.add(Unary{UnaryFn::pow, 2}, {deviation}, "squared");
  const ValueId variance = mean_of_groups(c, squared, groups, "variance");
  c.result(channel_affine(c, scaled_by_root(c, deviation, variance, epsilon, "normalized")));
}

}  // namespace

// Both norms of slices; RMS norm has no bias and may have no epsilon: float32's then.
static void import_slice_norm(Call& c, bool centered) {
  const ValueId x = c.tensor("input");
  const Axes axes = last_axes(c, x);
  const double epsilon = centered || c.has("eps") ? epsilon_of(c, "eps") : 1.1920928955078125e-07;
  if (!c.ok()) return;
  const bool weighted = c.has("weight"), biased = centered && c.has("bias");
  std::vector<ValueId> operands{x};
  if (weighted) operands.push_back(c.tensor("weight"));
  if (biased && !weighted) {
    const Shape slice(c.shape(x).end() - static_cast<std::ptrdiff_t>(axes.size()),
                      c.shape(x).end());
    operands.push_back(
        c.constant("ones", slice, std::vector<float>(static_cast<size_t>(numel(slice)), 1.0f)));
  }
  if (biased) operands.push_back(c.tensor("bias"));
  if (c.ok())
    c.result(c.add(LayerNorm{static_cast<i64>(axes.size()), static_cast<float>(epsilon), centered},
                   operands));
}
static void import_layer_norm(Call& c) { import_slice_norm(c, true); }
static void import_rms_norm(Call& c) { import_slice_norm(c, false); }

static void import_group_norm(Call& c) {
  const ValueId x = c.tensor("input");
  finish_group_norm(c, x, c.integer("num_groups"), epsilon_of(c, "eps"));
}

// N, C and HxW say what the shape says.
static void import_native_group_norm(Call& c) {
  const ValueId x = c.tensor("input");
  finish_group_norm(c, x, c.integer("group"), epsilon_of(c, "eps"));
}

static void import_instance_norm(Call& c) {
  const ValueId x = c.tensor("input");
  if (c.has("use_input_stats") && !c.boolean("use_input_stats"))
    c.refuse({"normalizes with running statistics", "", "", "pt2.instance_norm.statistics"},
             "use batch normalization");
  const double epsilon = epsilon_of(c, "eps");
  if (c.ok()) finish_group_norm(c, x, c.rank(x) >= 2 ? c.shape(x)[1] : 1, epsilon);
}

// What torch's decompositions make of instance norm: the images' channels in one image, each
// normalized by its own statistics.
static void import_batch_statistics_norm(Call& c) {
  const ValueId x = c.tensor("input");
  const double epsilon = epsilon_of(c, "eps");
  c.require(!c.ok() || (c.rank(x) >= 3 && c.shape(x)[0] == 1),
            "normalizes with the statistics of a batch: only those of one image are supported",
            c.ok() ? to_text(c.shape(x)) : "", "1,..", "pt2.batch_norm.batch");
  if (c.ok()) finish_group_norm(c, x, c.shape(x)[1], epsilon);
}

// One slope, or one for each index of axis 1.
static void import_prelu(Call& c) {
  const ValueId x = c.tensor("self"), weight = c.tensor("weight");
  if (!c.ok()) return;
  const i64 rank = c.rank(x), slopes = c.type(weight).elements();
  c.require(slopes == 1 || (rank >= 2 && slopes == c.shape(x)[1]),
            "the slopes do not fit the channels", std::to_string(slopes), to_text(c.shape(x)),
            "pt2.prelu.channels");
  if (!c.ok()) return;
  Axes to_last{};
  for (i64 k = 0; k < rank; ++k)
    if (slopes == 1 || k != 1) to_last.push_back(k);
  if (slopes != 1) to_last.push_back(1);
  const ValueId turned = c.permute(x, to_last, "channels_last"),
                row = c.reshape(weight, {slopes}, "slopes");
  c.result(c.permute(c.add(Prelu{}, {turned, row}, "out"), inverse(to_last)));
}

static constexpr ImportRow kNormalizationRows[] = {
    {"aten._fused_rms_norm.default", import_rms_norm},
    {"aten._native_batch_norm_legit.no_stats", import_batch_statistics_norm},
    {"aten._prelu_kernel.default", import_prelu},
    {"aten.group_norm.default", import_group_norm},
    {"aten.instance_norm.default", import_instance_norm},
    {"aten.layer_norm.default", import_layer_norm},
    {"aten.native_group_norm.default", import_native_group_norm},
    {"aten.native_layer_norm.default", import_layer_norm},
    {"aten.prelu.default", import_prelu},
    {"aten.rms_norm.default", import_rms_norm},
};
ImportRows normalization_rows() { return kNormalizationRows; }

}  // namespace deuteron::pt2
