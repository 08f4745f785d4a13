// SPDX-License-Identifier: Apache-2.0
// Integers and truth values that are known at import: exporters compute shapes, axes and positions
// by chains of operators on them.
#pragma once
#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

// Where all operands of the node are constants of integers or truth values and the operator is one
// of those that such chains are made of: computes its result, exactly, and returns true. Else
// nothing happens.
bool fold_integers(Call& c);

// The positions that a Slice with these picks along an axis of `extent` elements. Nothing: it steps
// by 0, or the axis is too long.
std::optional<std::vector<i64>> slice_positions(i64 start, i64 end, i64 step, i64 extent);
inline constexpr i64 kMostSliced = i64{1} << 24;

}  // namespace deuteron::onnx
