// cortex_m::quantized_div: its arguments checked once, at load. output_scale is the whole factor from quotients of steps to steps.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/div/kernel.h"

namespace deuteron {
namespace {

enum { kX, kXZero, kOther, kOtherZero, kYZero, kScale, kOut };

struct DivCall {
  DivArgs args;
  const void *x, *other;
  void* y;
};
void run_s8(const DivCall& c) {
  div_s8(c.args, static_cast<const int8_t*>(c.x), static_cast<const int8_t*>(c.other), static_cast<int8_t*>(c.y));
}
void run_s16(const DivCall& c) {
  div_s16(c.args, static_cast<const int16_t*>(c.x), static_cast<const int16_t*>(c.other), static_cast<int16_t*>(c.y));
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  const bool wide = y.type == ScalarType::s16;
  const int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : INT8_MAX;
  if (y.type != ScalarType::s8 && !wide) return bad_argument(kOut, "must be int8 or int16");
  constexpr int kTensors[] = {kX, kOther, kOut};
  for (const int t : kTensors) {
    if (call.tensor(t).type != y.type) return bad_argument(t, "must have the dtype of the output");
    if (!is_aligned(call.tensor(t), wide ? 2 : 1)) return bad_argument(t, "must be 2-aligned");
  }
  if (!same_layout(x, other)) return bad_argument(kOther, "must have the sizes and the order of the first");
  if (!same_layout(x, y)) return bad_argument(kOut, "must have the sizes and the order of the input");
  constexpr int kZeros[] = {kXZero, kOtherZero, kYZero};
  for (const int zero : kZeros)
    if (!lies_in(call.integer(zero), least, most)) return bad_argument(zero, "must be within the dtype");
  const float scale = static_cast<float>(call.real(kScale));
  if (!(scale >= -3.4028234e38f && scale <= 3.4028234e38f)) return bad_argument(kScale, "must be finite");
  const DivCall c{{x.numel, static_cast<int32_t>(call.integer(kXZero)), static_cast<int32_t>(call.integer(kOtherZero)),
                   static_cast<int32_t>(call.integer(kYZero)), scale},
                  x.data,
                  other.data,
                  y.data};
  return wide ? keep<DivCall, run_s16>(call, prepared, c) : keep<DivCall, run_s8>(call, prepared, c);
}

}  // namespace

const Kernel kQuantizedDiv = {"cortex_m::quantized_div.out", "TITIIFO", prepare, true};

}  // namespace deuteron
