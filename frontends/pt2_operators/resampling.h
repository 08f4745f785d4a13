// Padding with elements of the tensor itself.
#pragma once
#include "frontends/pt2_call/call.h"

namespace deuteron::pt2 {

// The whole operator, from `self` and `pad` or `padding`. Modes: reflect, replicate, circular.
void finish_pad_by_elements(Call& c, std::string_view mode);

}  // namespace deuteron::pt2
