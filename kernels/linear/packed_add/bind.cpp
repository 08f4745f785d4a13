// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_add and deuteron::linear_add.q21: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/prepare.h"
#include "kernels/linear/packed_add/fields.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

namespace {

enum { kX, kOther, kXFactor, kOtherFactor, kFirst, kOut };

template <auto portable, auto mve, auto dsp, auto scalar>
Status prepare(Call& call, Prepared* prepared) {
  OperandPair pair;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  for (int i = kXFactor; i <= kFirst; ++i)
    if (!lies_in(call.integer(i), INT32_MIN, INT32_MAX)) return bad_argument(i, "is out of range");
  const auto factor = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  const LinearAddArgs a{pair.count, pair.period, factor(pair.swapped ? kOtherFactor : kXFactor),
                        factor(pair.swapped ? kXFactor : kOtherFactor), factor(kFirst)};
  const auto* x = static_cast<const int8_t*>(call.tensor(pair.swapped ? kOther : kX).data);
  const auto* other = static_cast<const int8_t*>(call.tensor(pair.swapped ? kX : kOther).data);
  auto* y = static_cast<int8_t*>(call.tensor(kOut).data);
  if (is_for<Feature::mve>(call))
    return keep_for<Feature::mve, mve>(call, prepared, a, x, other, y);
  if (is_for<Feature::dsp>(call))
    return keep_for<Feature::dsp, dsp>(call, prepared, a, x, other, y);
  if (is_for<Feature::scalar>(call))
    return keep_for<Feature::scalar, scalar>(call, prepared, a, x, other, y);
  return keep<portable>(call, prepared, a, x, other, y);
}

}  // namespace

const Kernel kLinearAdd = {
    "deuteron::linear_add.out", "TTIIIO",
    prepare<linear_add_s8, linear_add_s8_mve, linear_add_s8_dsp, linear_add_s8_scalar>, true};
const Kernel kLinearAddQ21 = {"deuteron::linear_add.q21", "TTIIIO",
                              prepare<linear_add_q21_s8, linear_add_q21_s8_mve,
                                      linear_add_q21_s8_dsp, linear_add_q21_s8_scalar>,
                              true};

}  // namespace deuteron
