// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_once: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/linear/once/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(LinearOnceArgs, rows, inputs, outputs, y_zero, y_min, y_max)

namespace {

enum { kX, kWeight, kFirst, kMultiplier, kShift };
using Args = LinearOnceArgs;
constexpr Argument kRow[] = {input(Is::s8_matrix),
                             input(Is::s8_matrix),
                             input(Is::any),
                             input(Is::any),
                             input(Is::any),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             number(Is::step, DEUTERON_FIELD(y_min)),
                             number(Is::step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s8_matrix)};

bool more(const Call& call, Args& a, Status* why) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight),
               &y = call.tensor(last_of(kRow));
  a.rows = x.sizes[0], a.inputs = x.sizes[1], a.outputs = y.sizes[1];
  if (a.inputs > kMostOnceInputs) return refuse(why, kX, "must have at most 131071 columns");
  if (weight.sizes[1] != a.inputs) return refuse(why, kWeight, "must have a column for each input");
  if (weight.sizes[0] != a.outputs) return refuse(why, kWeight, "must have a row for each output");
  if (y.sizes[0] != a.rows) return refuse(why, last_of(kRow), "must have the rows of the input");
  if (const char* words = why_not_channel_sums(call.tensor(kFirst), a.outputs))
    return refuse(why, kFirst, words);
  if (const char* words = why_not_multipliers(call.tensor(kMultiplier), a.outputs))
    return refuse(why, kMultiplier, words);
  if (const char* words = why_not_shifts(call.tensor(kShift), a.outputs))
    return refuse(why, kShift, words);
  return true;
}

}  // namespace

const Kernel kLinearOnce =
    kernel_and<kRow, Args, more, linear_once_s8, linear_once_s8_mve, linear_once_s8_dsp>(
        "deuteron::linear_once.out");

}  // namespace deuteron
