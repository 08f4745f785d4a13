// SPDX-License-Identifier: Apache-2.0
#include "ops/common/npu_sums.h"

#include "ops/common/multiplier.h"

namespace deuteron {

std::optional<i64> sums_fit_on_npu(const NpuOperands& o) {
  enum { kX, kWeight, kBias };
  const bool has_bias = o.in.size() > kBias;
  if (!o.is_quantized() || !o.data[kWeight] || (has_bias && !o.data[kBias])) return std::nullopt;
  const Quant &x = o.in[kX].quant, &weight = o.in[kWeight].quant;
  const bool is_by_filter = !weight.per_channel() || weight.axis == 0;
  if (x.empty() || weight.empty() || !is_by_filter || o.in[kWeight].dtype != DType::s8)
    return std::nullopt;  // other rows refuse it
  const i64 filters = o.in[kWeight].shape[0];
  const auto multipliers =
      channel_multipliers(x, weight, o.out[0].quant, filters, form_of(Rounding::tflite), "");
  if (!multipliers) return std::nullopt;  // so does the converter
  const LowerContext context{o.in, o.out, o.data, Isa::scalar, Rounding::tflite};
  return why_sums_wrap(context, *multipliers, "") ? 0 : 1;
}

}  // namespace deuteron
