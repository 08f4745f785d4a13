// SPDX-License-Identifier: Apache-2.0
// Losses as results: what a model that scores its input by its own reconstruction computes.
#include <fmt/format.h>

#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/reductions.h"

namespace deuteron::pt2 {
namespace {

enum LossReduction : i64 { kEach, kLossMean, kLossSum };

// All elements to one, or as they are.
void finish_loss(Call& c, ValueId losses) {
  const i64 reduction = c.integer("reduction");
  c.require(!c.ok() || (reduction >= kEach && reduction <= kLossSum),
            "reduces in a way that is not known", std::to_string(reduction), "0..2",
            "pt2.loss.reduction");
  if (!c.ok()) return;
  if (reduction == kEach) return c.result(losses);
  Axes axes;
  for (i64 k = 0; k < c.rank(losses); ++k) axes.push_back(k);
  c.result(c.reshape(
      reduced(c, reduction == kLossMean ? Reduce::kMean : Reduce::kSum, losses, axes, "reduced"),
      {}));
}

ValueId error_of(Call& c) { return difference(c, c.tensor("self"), c.tensor("target"), "error"); }

// beta of smooth_l1_loss, delta of huber_loss
double bend_of(Call& c, std::string_view argument) {
  const double bend = c.number(argument);
  c.require(!c.ok() || (bend > 0 && std::isfinite(static_cast<float>(bend))),
            fmt::format("argument `{}` is out of range", argument), std::to_string(bend), "above 0",
            "pt2.argument.range");
  return bend;
}

// |e| - t / 2 with t = min(|e|, bend), times t: e^2 / 2 where |e| < bend, else bend * (|e| - bend /
// 2)
ValueId bent(Call& c, double bend) {
  const ValueId size = apply(c, UnaryFn::abs, error_of(c), "size"),
                low = between(c, size, {.high = static_cast<float>(bend)}, "low");
  return product(c, low, sum(c, size, low, "rest", -0.5), "bent");
}

}  // namespace

static void import_mse_loss(Call& c) {
  finish_loss(c, apply(c, UnaryFn::pow, error_of(c), "squared", 2));
}
static void import_l1_loss(Call& c) { finish_loss(c, apply(c, UnaryFn::abs, error_of(c), "size")); }
static void import_huber_loss(Call& c) { finish_loss(c, bent(c, bend_of(c, "delta"))); }
static void import_smooth_l1_loss(Call& c) {
  const double beta = bend_of(c, "beta");
  finish_loss(c, product(c, bent(c, beta), number(c, 1 / beta), "losses"));
}

static constexpr ImportRow kLossesRows[] = {
    {"aten.huber_loss.default", import_huber_loss},
    {"aten.l1_loss.default", import_l1_loss},
    {"aten.mse_loss.default", import_mse_loss},
    {"aten.smooth_l1_loss.default", import_smooth_l1_loss},
};
ImportRows losses_rows() { return kLossesRows; }

}  // namespace deuteron::pt2
