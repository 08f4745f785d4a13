// SPDX-License-Identifier: Apache-2.0
// Between the user's image axes, [n,c,h,w] or [c,h,w] without a batch, and the [n,h,w,c] that image
// operators work on. A signal of one axis, [n,c,l] or [c,l], is an image one element wide,
// [n,l,1,c].
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

inline const Axes kToChannelsLast{0, 2, 3, 1}, kToChannelsFirst{0, 3, 1, 2};

void require_image(Call& c, ValueId x, i64 axes = 2);  // refuses any other rank
ValueId to_image(Call& c, ValueId x, i64 axes = 2);
// `rank` is the rank of the user's operand; the result has the same.
ValueId from_image(Call& c, ValueId y, i64 rank, std::string_view suffix = {}, i64 axes = 2);

// Numbers for height and width; for a signal one number and `across` for the axis that it lacks.
HW window(Call& c, std::string_view argument, i64 lowest, i64 axes, i64 across);

}  // namespace deuteron::pt2
