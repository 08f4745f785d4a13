// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix that are written to rows of another one, at positions that are known. What is
// written over is a gather from the matrix with the new rows behind it; what is added is a product
// with a matrix of ones, or a few gathers.
#pragma once
#include <optional>
#include <string_view>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// x [rows, inner], source [n, inner]; row k of the source goes to row to[k]. The result has the
// shape of x. Of several writes to a row the last one counts.
ValueId overwritten(Call& c, ValueId x, ValueId source, const Axes& to);
// x and all that goes to each row.
ValueId accumulated(Call& c, ValueId x, ValueId source, const Axes& to);
// The largest or smallest of what goes to each row, and of the row itself `with_self`, or where
// nothing goes to it.
ValueId extreme_of_rows(Call& c, ValueId x, ValueId source, const Axes& to, bool largest,
                        bool with_self);
// The mean of the same.
ValueId mean_of_rows(Call& c, ValueId x, ValueId source, const Axes& to, bool with_self);

// A tensor as a matrix whose rows lie along `axis`.
struct Rows {
  ValueId value = -1;
  Shape shape;  // with the axis in front
  Axes perm;    // to that
};
Rows rows_along(Call& c, ValueId x, i64 axis, std::string_view suffix);
// The tensor that `y` is the matrix of.
ValueId from_rows(Call& c, const Rows& rows, ValueId y);

// A position along an axis of `extent` elements; a negative one counts from the end. Refuses what
// lies outside.
i64 position_of(Call& c, float number, i64 extent);
Axes positions_of(Call& c, const std::vector<float>& numbers, i64 extent);
// Those of an argument. Refuses computed ones, and none.
std::optional<Axes> known_positions(Call& c, std::string_view argument, i64 extent);

}  // namespace deuteron::pt2
