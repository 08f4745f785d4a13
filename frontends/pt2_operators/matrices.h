// Parts of matrices that several operators are made of.
#pragma once
#include "frontends/pt2_call/call.h"

namespace deuteron::pt2 {

// Elements along a diagonal of the axes `a` and `b`, in the order of these; they become the last axis.
ValueId diagonal_of(Call& c, ValueId x, i64 offset, i64 a, i64 b, std::string_view suffix);

}  // namespace deuteron::pt2
