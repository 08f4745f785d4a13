// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_linear: its arguments checked once, at load. The maximum of the activation
// stands before the minimum.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
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

Status read_numbers(const Call& call, LinearArgs& a) {
  if (!lies_in(call.integer(kXOffset), -255, 255))
    return bad_argument(kXOffset, "must be -255..255");
  if (!lies_in(call.integer(kWeightOffset), -255, 255))
    return bad_argument(kWeightOffset, "must be -255..255");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be -128..127");
  if (!is_s8(call.integer(kYMin))) return bad_argument(kYMin, "must be -128..127");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127))
    return bad_argument(kYMax, "must be activation_min..127");
  if (call.list(kMultipliers).count != 1) return bad_argument(kMultipliers, "must have one number");
  if (call.list(kShifts).count != 1) return bad_argument(kShifts, "must have one number");
  if (!is_multiplier(call.list_integer(kMultipliers, 0)))
    return bad_argument(kMultipliers, "is out of range");
  if (!is_shift(call.list_integer(kShifts, 0))) return bad_argument(kShifts, "must be -31..30");
  a.x_offset = static_cast<int32_t>(call.integer(kXOffset));
  a.weight_offset = static_cast<int32_t>(call.integer(kWeightOffset));
  a.y_zero = static_cast<int32_t>(call.integer(kYZero));
  a.multiplier = static_cast<int32_t>(call.list_integer(kMultipliers, 0));
  a.shift = static_cast<int32_t>(call.list_integer(kShifts, 0));
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  return Status{};
}

// Leading dimensions are rows.
Status read_shapes(const Call& call, LinearArgs& a) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 2)) return bad_argument(kWeight, why);
  a.out = weight.sizes[0], a.in = weight.sizes[1];
  if (a.in < 1 || a.out < 1) return bad_argument(kWeight, "must not be empty");
  if (x.rank < 1) return bad_argument(kX, "must have a dimension");
  if (const char* why = why_not_dense(x, ScalarType::s8, x.rank)) return bad_argument(kX, why);
  if (const char* why = why_not_dense(y, ScalarType::s8, x.rank)) return bad_argument(kOut, why);
  if (x.sizes[x.rank - 1] != a.in)
    return bad_argument(kX, "must have as many columns as the weight");
  if (y.sizes[y.rank - 1] != a.out)
    return bad_argument(kOut, "must have as many columns as the weight has rows");
  a.rows = x.numel / a.in;
  for (int i = 0; i + 1 < x.rank; ++i)
    if (x.sizes[i] != y.sizes[i]) return bad_argument(kOut, "must have the rows of the input");
  return Status{};
}

Status prepare(Call& call, Prepared* prepared) {
  LinearArgs a{};
  if (Status s = read_shapes(call, a); !s.ok()) return s;
  if (Status s = read_numbers(call, a); !s.ok()) return s;
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

const Kernel kQuantizedLinear = {"cortex_m::quantized_linear.out", "TTttIIILLIIO", prepare};

}  // namespace deuteron
