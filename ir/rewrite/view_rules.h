// SPDX-License-Identifier: Apache-2.0
// Rules about operators that only move or rename elements. Several passes use them; each is a
// picture and a function.
#pragma once
#include <span>

#include "base/tensor/axes.h"
#include "ir/rewrite/patch.h"
#include "ops/families.h"

namespace deuteron {

// What stays after them: no permute or reshape of a constant, no two in a row, none that does
// nothing.
std::span<const Rule> view_rules();

// A permute or a reshape: nothing but a view under another order or shape.
bool is_view(const Op& op);
// The value that `v` is, seen through views.
ValueId behind_views(const Graph& g, const Uses& uses, ValueId v);

// A value whose slices along one axis each stand `times` times in the place of the slices of
// `base`.
struct RepeatedValue {
  ValueId base;
  Repeat repeat;
};
// What `v` repeats, seen through views, which are made of the base again.
std::optional<RepeatedValue> repeated_value(const Graph& g, const Uses& uses, ValueId v,
                                            PatchBuilder& builder);
// The value under another shape, with the same quantization.
ValueId reshaped(PatchBuilder& builder, ValueId v, const Quant& quant, Shape shape);

}  // namespace deuteron
