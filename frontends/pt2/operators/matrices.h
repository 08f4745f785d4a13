// SPDX-License-Identifier: Apache-2.0
// Parts of matrices that several operators are made of.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Elements along a diagonal of the axes `a` and `b`, in the order of these; they become the last
// axis.
ValueId diagonal_of(Call& c, ValueId x, i64 offset, i64 a, i64 b, std::string_view suffix);

// A matrix of the elements along the axes `rows` by those along `columns`, which are all axes.
ValueId flat_matrix(Call& c, ValueId x, const Axes& rows, const Axes& columns,
                    std::string_view suffix);
Axes other_axes(i64 rank, const Axes& axes);  // than these

}  // namespace deuteron::pt2
