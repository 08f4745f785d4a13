// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_linear: its arguments checked once, at load. The maximum of the activation
// stands before the minimum.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/linear/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(LinearArgs, rows, in, out, x_offset, weight_offset, y_zero, multiplier, shift,
                y_min, y_max)

namespace {

enum {
  kX,
  kWeight,
  kBias,
  kKernelSum,
  kXOffset,
  kWeightOffset,
  kYZero,
  kMultipliers,
  kShifts,
  kYMax,
  kYMin,
  kOut
};

using Args = LinearArgs;
constexpr Argument kRow[] = {input(Is::s8_rows),
                             input(Is::s8_matrix),
                             optional_tensor(),
                             optional_tensor(),
                             number(Is::offset, DEUTERON_FIELD(x_offset)),
                             number(Is::offset, DEUTERON_FIELD(weight_offset)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             list(Is::multiplier, DEUTERON_FIELD(multiplier)),
                             list(Is::shift, DEUTERON_FIELD(shift)),
                             number(Is::step, DEUTERON_FIELD(y_max)),
                             number(Is::step, DEUTERON_FIELD(y_min)),
                             output(Is::s8_rows)};

// Leading dimensions are rows.
bool read_shapes(const Call& call, LinearArgs& a, Status* why) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  a.out = weight.sizes[0], a.in = weight.sizes[1];
  if (a.in < 1 || a.out < 1) return refuse(why, kWeight, "must not be empty");
  if (y.rank != x.rank) return refuse(why, kOut, "has the wrong rank");
  if (x.sizes[x.rank - 1] != a.in)
    return refuse(why, kX, "must have as many columns as the weight");
  if (y.sizes[y.rank - 1] != a.out)
    return refuse(why, kOut, "must have as many columns as the weight has rows");
  a.rows = x.numel / a.in;
  for (int i = 0; i + 1 < x.rank; ++i)
    if (x.sizes[i] != y.sizes[i]) return refuse(why, kOut, "must have the rows of the input");
  return true;
}

Status prepare(Call& call, Prepared* prepared) {
  LinearArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_shapes(call, a, &s)) return s;
  if (a.y_max < a.y_min) return bad_argument(kYMax, "must be activation_min..127");
  const Tensor *bias = call.optional_tensor(kBias), *sum = call.optional_tensor(kKernelSum);
  if (bias != nullptr && sum != nullptr)
    return bad_argument(kKernelSum, "must be none where there is a bias");
  if (bias != nullptr)
    if (const char* why = why_not_channel_sums(*bias, a.out)) return bad_argument(kBias, why);
  if (sum != nullptr)
    if (const char* why = why_not_channel_sums(*sum, a.out)) return bad_argument(kKernelSum, why);
  if (sum != nullptr) a.x_offset = 0;  // it is in the sums
  const Tensor* sums = sum ? sum : bias;
  const auto* x = static_cast<const int8_t*>(call.tensor(kX).data);
  const auto* weight = static_cast<const int8_t*>(call.tensor(kWeight).data);
  const auto* first = sums ? static_cast<const int32_t*>(sums->data) : nullptr;
  auto* y = static_cast<int8_t*>(call.tensor(kOut).data);
  if (serves<Feature::mve, why_not_linear_mve>(call, a))
    return keep_for<Feature::mve, linear_s8_mve>(call, prepared, a, x, weight, first, y);
  if (serves<Feature::dsp, why_not_linear_rows_dsp>(call, a, weight, first))
    return keep_for<Feature::dsp, linear_s8_rows_dsp>(call, prepared, a, x, weight, first, y);
  if (serves<Feature::dsp, why_not_linear_dsp>(call, a))
    return keep_for<Feature::dsp, linear_s8_dsp>(call, prepared, a, x, weight, first, y);
  if (is_for<Feature::scalar>(call))
    return keep_for<Feature::scalar, linear_s8_scalar>(call, prepared, a, x, weight, first, y);
  return keep<linear_s8>(call, prepared, a, x, weight, first, y);
}

}  // namespace

const Kernel kQuantizedLinear = kernel_by<kRow>("cortex_m::quantized_linear.out", prepare);

}  // namespace deuteron
