// SPDX-License-Identifier: Apache-2.0
// Batch normalization with the statistics of training; the operator works over the last axis,
// torch's over axis 1.
#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {

// The mean and variance of each channel, over everything else, of numbers that are known.
struct Statistics {
  std::vector<float> mean, variance;
};
static Statistics statistics_of(const std::vector<float>& x, const Shape& shape) {
  const size_t channels = static_cast<size_t>(shape[1]),
               inner = static_cast<size_t>(numel(shape)) / static_cast<size_t>(shape[0]) / channels;
  std::vector<double> sum(channels), squares(channels);
  const double count = static_cast<double>(x.size() / channels);
  for (size_t k = 0; k < x.size(); ++k) sum[k / inner % channels] += x[k];
  for (size_t k = 0; k < x.size(); ++k) {
    const size_t channel = k / inner % channels;
    const double deviation = x[k] - sum[channel] / count;
    squares[channel] += deviation * deviation;
  }
  Statistics s;
  for (size_t channel = 0; channel < channels; ++channel) {
    s.mean.push_back(static_cast<float>(sum[channel] / count));
    s.variance.push_back(static_cast<float>(squares[channel] / count));
  }
  return s;
}

// Also the functional forms, which have no `training` or three results of which only the first is
// used.
static void import_batch_norm(Call& c) {
  const ValueId x = c.tensor("input");
  // Weights that are standardized so are known: their statistics are those that the model would
  // compute each time.
  const bool of_batch = c.has("training") && c.boolean("training");
  const auto known = of_batch ? c.known_numbers(x) : std::nullopt;
  if (of_batch && !known)
    c.refuse(
        {"normalizes with the statistics of the batch: the model was exported in training mode", "",
         "", "pt2.batch_norm.training"},
        "call model.eval() before torch.export.export; a layer with track_running_stats=False does "
        "so there, too");
  if (c.ok() && !known && (!c.has("running_mean") || !c.has("running_var")))
    c.refuse({"has no running statistics", "", "", "pt2.batch_norm.statistics"},
             "train with track_running_stats=True");
  const i64 rank = c.rank(x);
  c.require(!c.ok() || (rank >= 2 && rank <= 5), "batch normalization takes rank 2 to 5",
            std::to_string(rank), "2..5", "pt2.batch_norm.rank");
  if (!c.ok()) return;
  const i64 channels = c.shape(x)[1];
  const Statistics batch = known ? statistics_of(*known, c.shape(x)) : Statistics{};
  const ValueId mean =
      known ? c.constant("mean", {channels}, batch.mean) : c.parameter("running_mean");
  const ValueId variance =
      known ? c.constant("variance", {channels}, batch.variance) : c.parameter("running_var");
  const auto affine = [&](std::string_view argument, float neutral) {
    if (c.has(argument)) return c.parameter(argument);
    return c.constant(argument, {channels}, std::vector<float>(channels, neutral));
  };
  const ValueId weight = affine("weight", 1), bias = affine("bias", 0);
  BatchNorm op;
  op.epsilon = static_cast<float>(c.number("eps"));
  c.require(!c.ok() || (op.epsilon >= 0 && op.epsilon < 1e6f), "eps is out of range",
            std::to_string(op.epsilon), "0..1e6", "pt2.batch_norm.eps");

  if (rank == 5) {  // a volume is an image of its slices
    const ValueId volume = c.permute(x, {0, 2, 3, 4, 1}, "in");
    if (!c.ok()) return;
    const Shape s = c.shape(volume);
    const ValueId y = c.add(op,
                            {c.reshape(volume, {s[0] * s[1], s[2], s[3], s[4]}, "images"), weight,
                             bias, mean, variance},
                            "out");
    return c.result(c.permute(c.reshape(y, s, "volume"), {0, 4, 1, 2, 3}));
  }
  const Axes to_last = rank == 4 ? Axes{0, 2, 3, 1} : rank == 3 ? Axes{0, 2, 1} : Axes{0, 1};
  if (rank == 2) return c.result(c.add(op, {x, weight, bias, mean, variance}));
  const ValueId y = c.add(op, {c.permute(x, to_last, "in"), weight, bias, mean, variance}, "out");
  c.result(c.permute(y, inverse(to_last)));
}

static constexpr ImportRow kBatchNormRows[] = {
    {"aten._native_batch_norm_legit.default", import_batch_norm},
    {"aten._native_batch_norm_legit_functional.default", import_batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", import_batch_norm},
    {"aten.batch_norm.default", import_batch_norm},
};
ImportRows batch_norm_rows() { return kBatchNormRows; }

}  // namespace deuteron::pt2
