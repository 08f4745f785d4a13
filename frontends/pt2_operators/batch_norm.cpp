// Batch normalization with the statistics of training; the operator works over the last axis, torch's over axis 1.
#include "frontends/pt2_archive/storage_order.h"
#include "frontends/pt2_operators/import_table.h"

namespace deuteron::pt2 {

// Also the functional forms, which have no `training` or three results of which only the first is used.
static void import_batch_norm(Call& c) {
  const ValueId x = c.tensor("input");
  if (c.has("training") && c.boolean("training"))
    c.refuse({"normalizes with the statistics of the batch: the model was exported in training mode", "", "", "pt2.batch_norm.training"},
             "call model.eval() before torch.export.export");
  if (c.ok() && (!c.has("running_mean") || !c.has("running_var")))
    c.refuse({"has no running statistics", "", "", "pt2.batch_norm.statistics"}, "train with track_running_stats=True");
  const i64 rank = c.rank(x);
  c.require(!c.ok() || (rank >= 2 && rank <= 5), "batch normalization takes rank 2 to 5", std::to_string(rank), "2..5",
            "pt2.batch_norm.rank");
  if (!c.ok()) return;
  const i64 channels = c.shape(x)[1];
  const ValueId mean = c.parameter("running_mean"), variance = c.parameter("running_var");
  const auto affine = [&](std::string_view argument, float neutral) {
    if (c.has(argument)) return c.parameter(argument);
    return c.constant(argument, {channels}, std::vector<float>(channels, neutral));
  };
  const ValueId weight = affine("weight", 1), bias = affine("bias", 0);
  BatchNorm op;
  op.epsilon = static_cast<float>(c.number("eps"));
  c.require(!c.ok() || (op.epsilon >= 0 && op.epsilon < 1e6f), "eps is out of range", std::to_string(op.epsilon), "0..1e6",
            "pt2.batch_norm.eps");

  if (rank == 5) {  // a volume is an image of its slices
    const ValueId volume = c.permute(x, {0, 2, 3, 4, 1}, "in");
    if (!c.ok()) return;
    const Shape s = c.shape(volume);
    const ValueId y = c.add(op, {c.reshape(volume, {s[0] * s[1], s[2], s[3], s[4]}, "images"), weight, bias, mean, variance}, "out");
    return c.result(c.permute(c.reshape(y, s, "volume"), {0, 4, 1, 2, 3}));
  }
  const Axes to_last = rank == 4 ? Axes{0, 2, 3, 1} : rank == 3 ? Axes{0, 2, 1} : Axes{0, 1};
  if (rank == 2) return c.result(c.add(op, {x, weight, bias, mean, variance}));
  const ValueId y = c.add(op, {c.permute(x, to_last, "in"), weight, bias, mean, variance}, "out");
  c.result(c.permute(y, inverse(to_last)));
}

static constexpr ImportRow kBatchNormRows[] = {
    {"aten._native_batch_norm_legit.default", import_batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", import_batch_norm},
    {"aten.batch_norm.default", import_batch_norm},
};
ImportRows batch_norm_rows() { return kBatchNormRows; }

}  // namespace deuteron::pt2
