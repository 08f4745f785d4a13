// SPDX-License-Identifier: Apache-2.0
// Which layers have weights of four bits: --weight-bits, --int4-layer.
#pragma once
#include "passes/pass.h"

namespace deuteron {

// What stands in the way of weights of four bits is an error: the target, other options, a name that stands for nothing.
void check_weight_bits(PassContext& pass);

bool wants_int4(const PassContext& pass);
// Of a float graph: --weight-bits 4 means all, --int4-layer those that it names. With --weight-bits mixed a search says it.
bool is_int4_layer(const PassContext& pass, const Graph& g, const Node& node);

}  // namespace deuteron
