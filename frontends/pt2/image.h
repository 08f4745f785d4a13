// Between the user's image axes, [n,c,h,w] or [c,h,w] without a batch, and the [n,h,w,c] that image operators work on.
#pragma once
#include "frontends/pt2/call.h"

namespace deuteron::pt2 {

inline const Axes kToChannelsLast{0, 2, 3, 1}, kToChannelsFirst{0, 3, 1, 2};

ValueId to_image(Call& c, ValueId x);
// `rank` is the rank of the user's operand; the result has the same.
ValueId from_image(Call& c, ValueId y, i64 rank, std::string_view suffix = {});

}  // namespace deuteron::pt2
