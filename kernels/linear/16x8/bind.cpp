// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_16x8: its arguments checked once, at load. A bias of int32 makes it the narrow
// one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/common/row.h"
#include "kernels/linear/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Linear16x8Args, rows, inputs, outputs, y_min, y_max)

namespace {

enum { kX, kWeight, kBias, kScale };
using Args = Linear16x8Args;
constexpr Argument kRow[] = {input(Is::s16_matrix),
                             input(Is::s8_matrix),
                             optional_tensor(),
                             input(Is::any),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_matrix)};

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
  constexpr int kOut = last_of(kRow);
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  Args a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  a.rows = x.sizes[0], a.inputs = x.sizes[1], a.outputs = y.sizes[1];
  if (weight.sizes[1] != a.inputs)
    return bad_argument(kWeight, "must have a column for each input");
  if (weight.sizes[0] != a.outputs) return bad_argument(kWeight, "must have a row for each output");
  if (y.sizes[0] != a.rows) return bad_argument(kOut, "must have the rows of the input");
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

const Kernel kLinear16x8 = kernel_by<kRow>("deuteron::linear_16x8.out", prepare);

}  // namespace deuteron
