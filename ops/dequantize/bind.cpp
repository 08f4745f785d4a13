// cortex_m::dequantize_per_tensor: its arguments checked once, at load.
#include "ops/dequantize/kernel.h"
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

enum { kX, kScale, kZero, kLow, kHigh, kDtype, kOut };

struct DequantizeCall {
  DequantizeArgs args;
  const void* x;
  float* y;
};
void run_s8(const DequantizeCall& c) { dequantize_s8(c.args, static_cast<const int8_t*>(c.x), c.y); }
void run_s8_mve(const DequantizeCall& c) { dequantize_s8_mve(c.args, static_cast<const int8_t*>(c.x), c.y); }
void run_s8_dsp(const DequantizeCall& c) { dequantize_s8_dsp(c.args, static_cast<const int8_t*>(c.x), c.y); }
void run_s16(const DequantizeCall& c) { dequantize_s16(c.args, static_cast<const int16_t*>(c.x), c.y); }

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  const bool wide = x.type == ScalarType::s16;
  const int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : INT8_MAX;
  if ((x.type != ScalarType::s8 && !wide) || !is_aligned(x, wide ? 2 : 1)) return bad_argument(kX, "must be int8, or int16 and 2-aligned");
  if (y.type != ScalarType::f32 || !is_aligned(y, 4)) return bad_argument(kOut, "must be float32 and 4-aligned");
  if (call.integer(kDtype) != static_cast<int64_t>(x.type)) return bad_argument(kDtype, "must be the dtype of the input");
  if (!same_layout(x, y)) return bad_argument(kOut, "must have the sizes and the order of the input");
  const float scale = static_cast<float>(call.real(kScale));
  if (!(scale >= -3.4028234e38f && scale <= 3.4028234e38f)) return bad_argument(kScale, "must be finite");
  if (!lies_in(call.integer(kLow), least, most)) return bad_argument(kLow, "must be within the dtype");
  if (!lies_in(call.integer(kHigh), call.integer(kLow), most)) return bad_argument(kHigh, "must be quant_min or more, within the dtype");
  if (!lies_in(call.integer(kZero), call.integer(kLow), call.integer(kHigh))) return bad_argument(kZero, "must be quant_min..quant_max");
  const DequantizeCall c{{x.numel, scale, static_cast<int32_t>(call.integer(kZero))}, x.data, static_cast<float*>(y.data)};
  if (wide) return keep<DequantizeCall, run_s16>(call, prepared, c);
  if constexpr (kHasMveFloat) return keep<DequantizeCall, run_s8_mve>(call, prepared, c);
  if constexpr (kHasDspFloat) return keep<DequantizeCall, run_s8_dsp>(call, prepared, c);
  return keep<DequantizeCall, run_s8>(call, prepared, c);
}

}  // namespace

const Kernel kDequantizePerTensor = {"cortex_m::dequantize_per_tensor.out", "TFIIIIO", prepare};

}  // namespace deuteron
