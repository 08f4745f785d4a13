// SPDX-License-Identifier: Apache-2.0
// A dense call with packed weights.
#pragma once
#include "ir/graph.h"
#include "ops/conv2d/packing.h"
#include "ops/linear/packed_form.h"

namespace deuteron {

// The call in the place of a plain one; the refusal says why that stays. Has no multiply-adds yet.
Result<Lowered> pack_call(const KernelCall& plain, const PackFor& p, LinearForms& additions);

// Of a program: calls whose weights have four bits, by name.
bool has_int4_weights(std::string_view call);
struct Int4Weights {
  ValueId value;
  i64 int8_bytes;  // what the same call would have, packed
};
std::optional<Int4Weights> int4_weights_of(const Node&);  // nothing: another call

}  // namespace deuteron
