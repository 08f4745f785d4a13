// cortex_m::quantized_add: its arguments checked once, at load.
#include "ops/add/kernel.h"
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/elementwise/operand_pair.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

enum {
  kX,
  kXZero,
  kXMultiplier,
  kXShift,
  kOther,
  kOtherZero,
  kOtherMultiplier,
  kOtherShift,
  kYZero,
  kYMultiplier,
  kYShift,
  kYMin,
  kYMax,
  kOut
};

struct AddCall {
  AddArgs args;
  const int8_t *x, *other;
  int8_t* y;
};
void run(const AddCall& c) { add_s8(c.args, c.x, c.other, c.y); }
void run_mve(const AddCall& c) { add_s8_mve(c.args, c.x, c.other, c.y); }
void run_scalar(const AddCall& c) { add_s8_scalar(c.args, c.x, c.other, c.y); }
void run_dsp(const AddCall& c) { add_s8_dsp(c.args, c.x, c.other, c.y); }

// Zero point, multiplier and shift stand together, from argument `first` on.
Status read_rescale(const Call& call, int first, Rescale* r) {
  if (!is_s8(call.integer(first))) return bad_argument(first, "must be -128..127");
  if (!is_multiplier(call.integer(first + 1))) return bad_argument(first + 1, "is out of range");
  if (!is_shift(call.integer(first + 2))) return bad_argument(first + 2, "must be -31..30");
  *r = {static_cast<int32_t>(call.integer(first)), static_cast<int32_t>(call.integer(first + 1)),
        static_cast<int32_t>(call.integer(first + 2))};
  return Status{};
}

Status prepare(Call& call, Prepared* prepared) {
  OperandPair pair;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  AddArgs a{pair.count, pair.period, {}, {}, {}, 0, 0};
  if (Status s = read_rescale(call, kXZero, pair.swapped ? &a.other : &a.x); !s.ok()) return s;
  if (Status s = read_rescale(call, kOtherZero, pair.swapped ? &a.x : &a.other); !s.ok()) return s;
  if (Status s = read_rescale(call, kYZero, &a.y); !s.ok()) return s;
  if (!is_s8(call.integer(kYMin))) return bad_argument(kYMin, "must be -128..127");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127)) return bad_argument(kYMax, "must be activation_min..127");
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  const Tensor &x = call.tensor(pair.swapped ? kOther : kX), &other = call.tensor(pair.swapped ? kX : kOther);
  const AddCall c{a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(other.data),
                  static_cast<int8_t*>(call.tensor(kOut).data)};
  if constexpr (kHasMve)
    if (why_not_add_mve(a) == nullptr) return keep<AddCall, run_mve>(call, prepared, c);
  if constexpr (kHasDsp)
    if (why_not_add_dsp(a) == nullptr) return keep<AddCall, run_dsp>(call, prepared, c);
  if constexpr (kHasThumb2)
    if (why_not_add_scalar(a) == nullptr) return keep<AddCall, run_scalar>(call, prepared, c);
  return keep<AddCall, run>(call, prepared, c);
}

}  // namespace

const Kernel kQuantizedAdd = {"cortex_m::quantized_add.out", "TIIITIIIIIIIIO", prepare, true};

}  // namespace deuteron
