// SPDX-License-Identifier: Apache-2.0
// deuteron::requantize_s8 and deuteron::requantize_s16: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/requantize/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(RequantizeArgs, count, x_zero, factor, shift, y_zero, y_min, y_max)

namespace {

enum { kX, kXZero, kFactor, kShift, kYZero, kYMin, kYMax, kOut };

// What both have in common, of int8 (`narrow`) and int16.
Status read(const Call& call, int narrow, int wide, RequantizeArgs* a) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (call.tensor(narrow).type != ScalarType::s8) return bad_argument(narrow, "must be int8");
  if (const char* why = why_not_s16(call.tensor(wide))) return bad_argument(wide, why);
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  const bool to_int8 = narrow == kOut;
  const int64_t most_x = to_int8 ? 0 : 127, most_y = to_int8 ? 127 : 0,
                most = to_int8 ? 127 : 32767;
  const auto is_zero_point = [](int64_t v, int64_t high) {
    return high == 0 ? v == 0 : v >= -128 && v <= high;
  };
  if (!is_zero_point(call.integer(kXZero), most_x))
    return bad_argument(kXZero, "must be within int8, and 0 of int16");
  if (!lies_in(call.integer(kFactor), 0, 32767)) return bad_argument(kFactor, "must be 0..32767");
  if (!lies_in(call.integer(kShift), -15, 15)) return bad_argument(kShift, "must be -15..15");
  if (!is_zero_point(call.integer(kYZero), most_y))
    return bad_argument(kYZero, "must be within int8, and 0 of int16");
  if (!lies_in(call.integer(kYMin), -most - 1, most))
    return bad_argument(kYMin, "must be within the type of the result");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), most))
    return bad_argument(kYMax, "must be y_min or more, within the type");
  const auto number = [&](int k) { return static_cast<int32_t>(call.integer(k)); };
  *a = {x.numel,        number(kXZero), number(kFactor), number(kShift),
        number(kYZero), number(kYMin),  number(kYMax)};
  return Status{};
}

Status prepare_s8(Call& call, Prepared* prepared) {
  RequantizeArgs a{};
  if (Status s = read(call, kOut, kX, &a); !s.ok()) return s;
  const auto* from = static_cast<const int16_t*>(call.tensor(kX).data);
  auto* to = static_cast<int8_t*>(call.tensor(kOut).data);
  return keep_fastest<requantize_s8, requantize_s8_mve>(call, prepared, a, from, to);
}

Status prepare_s16(Call& call, Prepared* prepared) {
  RequantizeArgs a{};
  if (Status s = read(call, kX, kOut, &a); !s.ok()) return s;
  const auto* from = static_cast<const int8_t*>(call.tensor(kX).data);
  auto* to = static_cast<int16_t*>(call.tensor(kOut).data);
  return keep_fastest<requantize_s16, requantize_s16_mve>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kRequantizeS8 = {"deuteron::requantize_s8.out", "TIIIIIIO", prepare_s8, true};
const Kernel kRequantizeS16 = {"deuteron::requantize_s16.out", "TIIIIIIO", prepare_s16, false};

}  // namespace deuteron
