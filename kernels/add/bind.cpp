// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_add: its arguments checked once, at load.
#include "kernels/add/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Rescale, zero, multiplier, shift)
DEUTERON_FIELDS(AddArgs, count, period, x, other, y, y_min, y_max)

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
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127))
    return bad_argument(kYMax, "must be activation_min..127");
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  const auto* x = static_cast<const int8_t*>(call.tensor(pair.swapped ? kOther : kX).data);
  const auto* other = static_cast<const int8_t*>(call.tensor(pair.swapped ? kX : kOther).data);
  auto* y = static_cast<int8_t*>(call.tensor(kOut).data);
  if (serves<Feature::mve, why_not_add_mve>(call, a))
    return keep_for<Feature::mve, add_s8_mve>(call, prepared, a, x, other, y);
  if (serves<Feature::dsp, why_not_add_dsp>(call, a))
    return keep_for<Feature::dsp, add_s8_dsp>(call, prepared, a, x, other, y);
  if (serves<Feature::scalar, why_not_add_scalar>(call, a))
    return keep_for<Feature::scalar, add_s8_scalar>(call, prepared, a, x, other, y);
  return keep<add_s8>(call, prepared, a, x, other, y);
}

}  // namespace

const Kernel kQuantizedAdd = {"cortex_m::quantized_add.out", "TIIITIIIIIIIIO", prepare, true};

}  // namespace deuteron
