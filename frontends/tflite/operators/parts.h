// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor along one axis, by positions that are known.
#pragma once
#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {

// Refuses what would write out too many positions.
bool can_pick(Call& c, i64 count);
// Elements index[0], index[1], .. of an axis.
ValueId picked(Call& c, ValueId x, i64 axis, Axes index, std::string_view suffix = {});
// Elements start, start + step, .. of an axis; step may be negative.
ValueId part(Call& c, ValueId x, i64 axis, i64 start, i64 count, i64 step, std::string_view suffix);
// The only element of a constant.
i64 scalar(Call& c, size_t operand);

// An operand beside one of int16: the same numbers in int16, and its parameters then.
ValueId as_int16(Call& c, size_t operand, Quant& quant);
// TFLite's tables of int16 give steps of 2^-15, whatever stands beside the result.
void require_int16_scale(Call& c);
void require_int16_zero(Call& c);  // of the result: its zero point is 0

}  // namespace deuteron::tflite
