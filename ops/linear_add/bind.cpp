// deuteron::linear_add: its arguments checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/elementwise/operand_pair.h"
#include "ops/linear_add/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

enum { kX, kOther, kXFactor, kOtherFactor, kFirst, kOut };

struct LinearAddCall {
  LinearAddArgs args;
  const int8_t *x, *other;
  int8_t* y;
};
template <void (*kernel)(const LinearAddArgs&, const int8_t*, const int8_t*, int8_t*)>
void run(const LinearAddCall& c) {
  kernel(c.args, c.x, c.other, c.y);
}

Status prepare(Call& call, Prepared* prepared) {
  OperandPair pair;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  for (int i = kXFactor; i <= kFirst; ++i)
    if (!lies_in(call.integer(i), INT32_MIN, INT32_MAX)) return bad_argument(i, "is out of range");
  const auto factor = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  const LinearAddArgs a{pair.count, pair.period, factor(pair.swapped ? kOtherFactor : kXFactor),
                        factor(pair.swapped ? kXFactor : kOtherFactor), factor(kFirst)};
  const Tensor &x = call.tensor(pair.swapped ? kOther : kX), &other = call.tensor(pair.swapped ? kX : kOther);
  const LinearAddCall c{a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(other.data),
                        static_cast<int8_t*>(call.tensor(kOut).data)};
  if constexpr (kHasMve) return keep<LinearAddCall, run<linear_add_s8_mve>>(call, prepared, c);
  if constexpr (kHasDsp) return keep<LinearAddCall, run<linear_add_s8_dsp>>(call, prepared, c);
  if constexpr (kHasThumb2) return keep<LinearAddCall, run<linear_add_s8_scalar>>(call, prepared, c);
  return keep<LinearAddCall, run<linear_add_s8>>(call, prepared, c);
}

}  // namespace

const Kernel kLinearAdd = {"deuteron::linear_add.out", "TTIIIO", prepare, true};

}  // namespace deuteron
