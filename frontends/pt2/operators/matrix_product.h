// SPDX-License-Identifier: Apache-2.0
// torch.matmul of any two ranks, as Linear where one side is a parameter that all matrices share,
// else as Matmul.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// scale * a @ b, with the batch axes broadcast: a [..,m,k] or [k], b [..,k,n] or [k]. Refuses
// shapes that do not fit.
ValueId matrix_product(Call& c, ValueId a, ValueId b, float scale, std::string_view suffix = {});

}  // namespace deuteron::pt2
