// cortex_m::quantized_mul: its arguments checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/elementwise/operand_pair.h"
#include "ops/mul/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

enum { kX, kXZero, kOther, kOtherZero, kYZero, kMultiplier, kShift, kOut };

struct MulCall {
  MulArgs args;
  const int8_t *x, *other;
  int8_t* y;
};
void run(const MulCall& c) { mul_s8(c.args, c.x, c.other, c.y); }
void run_scalar(const MulCall& c) { mul_s8_scalar(c.args, c.x, c.other, c.y); }
void run_dsp(const MulCall& c) { mul_s8_dsp(c.args, c.x, c.other, c.y); }
void run_mve(const MulCall& c) { mul_s8_mve(c.args, c.x, c.other, c.y); }

Status prepare(Call& call, Prepared* prepared) {
  OperandPair pair;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  constexpr int kZeros[] = {kXZero, kOtherZero, kYZero};
  for (const int zero : kZeros)
    if (!lies_in(call.integer(zero), INT16_MIN, INT16_MAX)) return bad_argument(zero, "must be -32768..32767");
  if (!is_multiplier(call.integer(kMultiplier))) return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  const MulArgs a{pair.count,
                  pair.period,
                  static_cast<int32_t>(call.integer(pair.swapped ? kOtherZero : kXZero)),
                  static_cast<int32_t>(call.integer(pair.swapped ? kXZero : kOtherZero)),
                  static_cast<int32_t>(call.integer(kYZero)),
                  static_cast<int32_t>(call.integer(kMultiplier)),
                  static_cast<int32_t>(call.integer(kShift))};
  const Tensor &x = call.tensor(pair.swapped ? kOther : kX), &other = call.tensor(pair.swapped ? kX : kOther);
  const MulCall c{a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(other.data),
                  static_cast<int8_t*>(call.tensor(kOut).data)};
  if constexpr (kHasMve)
    if (why_not_mul_mve(a) == nullptr) return keep<MulCall, run_mve>(call, prepared, c);
  if constexpr (kHasDsp)
    if (why_not_mul_words(a) == nullptr) return keep<MulCall, run_dsp>(call, prepared, c);
  if constexpr (kHasThumb2)
    if (why_not_mul_words(a) == nullptr) return keep<MulCall, run_scalar>(call, prepared, c);
  return keep<MulCall, run>(call, prepared, c);
}

}  // namespace

const Kernel kQuantizedMul = {"cortex_m::quantized_mul.out", "TITIIIIO", prepare, true};

}  // namespace deuteron
