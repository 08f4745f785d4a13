// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_16x8: its arguments checked once, at load. A bias of int32 makes it the narrow
// one.
#include <cstring>

#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/linear/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Linear16x8Args, rows, inputs, outputs, y_min, y_max)

namespace {

enum { kX, kWeight, kBias, kScale, kYMin, kYMax, kOut };

// A double is positive and finite where its bits are, as an integer, above 0 and below those of
// infinity.
const char* why_not_scales(const Tensor& t, int32_t outputs) {
  constexpr int64_t kInfinity = int64_t{0x7FF} << 52;
  if (const char* why = why_not_wide_sums(t, outputs)) return why;
  if (!t.constant) return "must be a constant";
  const auto* bits = static_cast<const int64_t*>(t.data);
  for (int32_t i = 0; i < outputs; ++i)
    if (bits[i] <= 0 || bits[i] >= kInfinity) return "has a value that is not positive and finite";
  return nullptr;
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOut}}) {
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s16, 2))
      return bad_argument(i, why);
    if (!is_aligned(call.tensor(i), 2)) return bad_argument(i, "must be 2-aligned");
  }
  if (const char* why = why_not_dense(weight, ScalarType::s8, 2)) return bad_argument(kWeight, why);
  Linear16x8Args a{x.sizes[0], x.sizes[1], y.sizes[1], 0, 0};
  if (weight.sizes[1] != a.inputs)
    return bad_argument(kWeight, "must have a column for each input");
  if (weight.sizes[0] != a.outputs) return bad_argument(kWeight, "must have a row for each output");
  if (y.sizes[0] != a.rows) return bad_argument(kOut, "must have the rows of the input");
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (const char* why = why_not_scales(call.tensor(kScale), a.outputs))
    return bad_argument(kScale, why);
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int8_t*>(weight.data);
  const auto* scale = static_cast<const int64_t*>(call.tensor(kScale).data);
  auto* to = static_cast<int16_t*>(y.data);
  const Tensor* bias = call.optional_tensor(kBias);
  if (bias != nullptr && bias->type == ScalarType::s32) {
    if (const char* why = why_not_channel_sums(*bias, a.outputs)) return bad_argument(kBias, why);
    const auto* first = static_cast<const int32_t*>(bias->data);
    return keep_fastest<linear_16x8_narrow, linear_16x8_narrow_mve, linear_16x8_narrow_dsp>(
        call, prepared, a, from, weights, first, scale, to);
  }
  const int64_t* first = nullptr;
  if (bias != nullptr) {
    if (const char* why = why_not_wide_sums(*bias, a.outputs)) return bad_argument(kBias, why);
    first = static_cast<const int64_t*>(bias->data);
  }
  return keep_fastest<linear_16x8, linear_16x8_mve, linear_16x8_dsp>(call, prepared, a, from,
                                                                     weights, first, scale, to);
}

}  // namespace

const Kernel kLinear16x8 = {"deuteron::linear_16x8.out", "TTtTIIO", prepare};

}  // namespace deuteron
